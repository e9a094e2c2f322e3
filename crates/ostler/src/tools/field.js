// Called on the element that a text is to go into: finds the field in it, and does one thing with it.
function (act, text) {
  // A frame of the same process has types of its own.
  const { Element, Event, HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement } = (this.ownerDocument ?? document).defaultView;
  const setter = type => Object.getOwnPropertyDescriptor(type.prototype, 'value').set;
  const fieldOf = element => {
    if (element.matches('input, textarea, select') || element.isContentEditable) return element;
    if (element.control) return element.control;
    const inside = element.querySelectorAll('input:not([type=hidden]), textarea, select, [contenteditable]');
    return inside.length === 1 ? inside[0] : element;
  };
  const kindOf = field => {
    if (field.isContentEditable) return 'editable';
    if (field.matches('button, a[href], [role=button], [role=link]')) return 'button';
    if (field instanceof HTMLTextAreaElement) return 'text';
    if (field instanceof HTMLSelectElement) return 'select';
    if (!(field instanceof HTMLInputElement)) return 'none';
    if (['checkbox', 'radio'].includes(field.type)) return 'check';
    if (['button', 'submit', 'reset', 'image'].includes(field.type)) return 'button';
    if (field.type === 'file') return 'file';
    const whole = ['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'];
    return whole.includes(field.type) ? 'value' : 'text';
  };
  const tell = field => field.dispatchEvent(new Event('input', { bubbles: true, composed: true })) &&
    field.dispatchEvent(new Event('change', { bubbles: true }));
  const labels = select => [...select.options].filter(option => !option.disabled).map(option => option.label.trim());
  const held = field => (field.isContentEditable ? field.innerText : field.value ?? '').toWellFormed();

  const element = this instanceof Element ? this : this.parentElement;
  const field = fieldOf(element);
  const kind = kindOf(field);
  const acts = {
    inspect: () => ({
      kind,
      type: field.type ?? '',
      secret: field.type === 'password',
      locked: field.matches(':disabled') || field.getAttribute('aria-disabled') === 'true' ? 'disabled'
        : field.readOnly ? 'read-only' : '',
      value: held(field),
      tag: field.localName,
    }),
    // The whole content is selected, so that the next key replaces it; or the caret goes behind it.
    select: () => {
      field.focus();
      if (kind === 'text') field.select();
      return true;
    },
    append: () => {
      field.focus();
      if (kind === 'editable') {
        const selection = field.ownerDocument.getSelection();
        selection.selectAllChildren(field);
        selection.collapseToEnd();
        return true;
      }
      try {
        field.setSelectionRange(field.value.length, field.value.length);
        return true;
      } catch {
        // Numbers and e-mail addresses have no caret that a script can place.
        field.select();
        return false;
      }
    },
    set: () => {
      field.focus();
      setter(HTMLInputElement).call(field, text);
      if (field.value !== text && !(field.type === 'range' && Number(field.value) === Number(text))
        && field.value.toLowerCase() !== text.toLowerCase()) return { ok: false, options: [] };
      tell(field);
      return { ok: true, options: [] };
    },
    choose: () => {
      field.focus();
      const wanted = field.multiple ? text.split('\n').map(line => line.trim()) : [text.trim()];
      const options = [...field.options].filter(option => !option.disabled);
      const same = (a, b) => a.localeCompare(b, undefined, { sensitivity: 'accent' }) === 0;
      const found = wanted.map(name => options.find(option => option.label.trim() === name)
        ?? options.find(option => option.value === name)
        ?? options.find(option => same(option.label.trim(), name)));
      if (found.includes(undefined)) return { ok: false, options: labels(field).slice(0, 30) };
      for (const option of field.options) {
        if (field.multiple) option.selected = found.includes(option);
      }
      if (!field.multiple) field.selectedIndex = found[0].index;
      tell(field);
      return { ok: true, options: [] };
    },
  };
  return acts[act]();
}
