(x, y) => {
  let element = document.elementFromPoint(x, y);
  while (element?.shadowRoot?.elementFromPoint(x, y) && element.shadowRoot.elementFromPoint(x, y) !== element)
    element = element.shadowRoot.elementFromPoint(x, y);
  const size = { width: innerWidth, height: innerHeight };
  if (!element) return { what: null, ...size };
  const actor = element.closest('a, button, input, select, textarea, label, summary, [role]') ?? element;
  const text = (actor.getAttribute('aria-label') || actor.innerText || actor.getAttribute('placeholder') || '')
    .replace(/\s+/g, ' ').trim().slice(0, 60);
  return { what: `<${actor.localName}>${text ? ` ${JSON.stringify(text)}` : ''}`, ...size };
}
