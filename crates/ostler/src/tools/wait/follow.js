// Resolves to true once the condition holds in this document, to false when the time is over or `name` is dispatched.
(kind, wanted, patience, name) => new Promise((done, fail) => {
  // What is in a form or a document may be named like a property of it; its prototypes know better.
  const own = (node, name) => {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  };
  const roots = function* (root) {
    yield root;
    for (const element of own(root, 'querySelectorAll')('*')) {
      const inner = own(element, 'shadowRoot');
      if (inner) yield* roots(inner);
    }
  };
  const shows = element => own(element, 'checkVisibility')({ visibilityProperty: true, contentVisibilityAuto: true })
    && own(element, 'getClientRects')().length > 0;
  const squeeze = text => text.replace(/\s+/g, ' ').toLowerCase();
  const textOf = root => (root === document ? [own(document, 'body') ?? own(document, 'documentElement')] : [...root.children])
    .map(element => element && own(element, 'innerText') || '').join('\n');
  const holds = {
    load: () => own(document, 'readyState') === 'complete',
    text: () => [...roots(document)].some(root => squeeze(textOf(root)).includes(squeeze(wanted))),
    selector: () => [...roots(document)].some(root => [...own(root, 'querySelectorAll')(wanted)].some(shows)),
  }[kind];

  const observer = new MutationObserver(() => later());
  const watched = new WeakSet();
  const watch = () => {
    if (kind === 'load') return;
    for (const root of roots(document)) {
      if (watched.has(root)) continue;
      watched.add(root);
      observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
    }
  };
  // What changes without a mutation: styles that arrive or end their transition, and what a person would trigger.
  const events = ['load', 'readystatechange', 'transitionend', 'animationend', 'toggle', 'input', 'resize', 'focusin'];
  const over = value => {
    observer.disconnect();
    for (const event of events) removeEventListener(event, later, true);
    clearTimeout(late);
    clearTimeout(due);
    clearInterval(unseen);
    removeEventListener(name, cancel);
    done(value);
  };
  const look = () => {
    due = 0;
    try {
      if (holds()) over(true);
      else watch();
    } catch (error) {
      // A selector that is none.
      fail(error);
      over(false);
    }
  };
  // A page that changes all the time is looked at ten times a second.
  let due = 0;
  const later = () => { due ||= setTimeout(look, 100); };
  const late = setTimeout(() => over(false), patience);
  // That a shadow root was attached is told by nothing.
  const unseen = setInterval(later, 500);
  for (const event of events) addEventListener(event, later, true);
  const cancel = () => over(false);
  dispatchEvent(new Event(name));
  addEventListener(name, cancel);
  look();
})
