// Called on the element that a text is to go into: finds the field in it, and does one thing with it.
function (act, text) {
  // A form lets its fields' names stand in the place of its own properties; its prototypes know better.
  const own = (node, name) => {
    const value = Reflect.get(Object.getPrototypeOf(node), name, node);
    return typeof value === 'function' ? value.bind(node) : value;
  };
  // A frame of the same process has types of its own.
  const { Element, Event, HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement } = own(own(this, 'ownerDocument') ?? document, 'defaultView');
  const setter = type => Object.getOwnPropertyDescriptor(type.prototype, 'value').set;
  const fieldOf = element => {
    if (own(element, 'matches')('input, textarea, select') || own(element, 'isContentEditable')) return element;
    if (own(element, 'control')) return own(element, 'control');
    const inside = own(element, 'querySelectorAll')('input:not([type=hidden]), textarea, select, [contenteditable]');
    return inside.length === 1 ? inside[0] : element;
  };
  const kindOf = field => {
    if (own(field, 'isContentEditable')) return 'editable';
    if (own(field, 'matches')('button, a[href], [role=button], [role=link]')) return 'button';
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
  const held = field => String(own(field, kind === 'editable' ? 'innerText' : 'value') ?? '').toWellFormed();
  // Keys go to the element with the focus: it is the field, or the part of the page that is edited as a whole.
  const focus = () => {
    let host = field;
    const outer = () => own(host, 'parentElement');
    while (kind === 'editable' && outer() && own(outer(), 'isContentEditable')) host = outer();
    own(host, 'focus')();
    const root = own(host, 'getRootNode')();
    // Of a document that is edited as a whole no element has the focus.
    return own(root, 'activeElement') === host || own(root, 'designMode') === 'on';
  };

  const element = this instanceof Element ? this : own(this, 'parentElement');
  const field = fieldOf(element);
  const kind = kindOf(field);
  const acts = {
    inspect: () => ({
      kind,
      type: own(field, 'type') ?? '',
      secret: own(field, 'type') === 'password',
      locked: own(field, 'matches')(':disabled') || own(field, 'getAttribute')('aria-disabled') === 'true' ? 'disabled'
        : own(field, 'readOnly') ? 'read-only' : '',
      value: held(field),
      tag: own(field, 'localName'),
    }),
    // The whole content is selected, so that the next key replaces it; or the caret goes behind it.
    select: () => {
      if (!focus()) return { focused: false, placed: false };
      if (kind === 'text') field.select();
      return { focused: true, placed: kind === 'text' };
    },
    append: () => {
      if (!focus()) return { focused: false, placed: false };
      // A frame of another process has the focus itself, and its caret where that is.
      if (kind === 'none') return { focused: true, placed: true };
      if (kind === 'editable') {
        const selection = field.ownerDocument.getSelection();
        selection.selectAllChildren(field);
        selection.collapseToEnd();
        return { focused: true, placed: true };
      }
      try {
        field.setSelectionRange(field.value.length, field.value.length);
        return { focused: true, placed: true };
      } catch {
        // Numbers and e-mail addresses have no caret that a script can place.
        field.select();
        return { focused: true, placed: false };
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
