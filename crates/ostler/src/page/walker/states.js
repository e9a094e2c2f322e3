// What is to know of an element beside its role and name: its state, its value, where it leads.

/** Returns the states that differ from what one would assume, as words. */
function statesOf(element, role, focused) {
  if (!element[its.hasAttributes]() && !INTERACTIVE.has(role)) return '';
  const words = [];
  const native = element[its.localName] === 'input';
  if (native && INPUT_KINDS.has(element.type)) words.push('type=' + element.type);
  const checked = native && element.indeterminate ? 'mixed'
    : native && (element.type === 'checkbox' || element.type === 'radio') ? String(element.checked) : element[its.getAttribute]('aria-checked');
  if (CHECKABLE.has(role)) {
    if (checked === 'true') words.push('checked');
    else if (checked === 'mixed') words.push('half checked');
  }
  const pressed = element[its.getAttribute]('aria-pressed');
  if (pressed === 'true') words.push('pressed');
  else if (pressed === 'mixed') words.push('half pressed');
  if (element[its.localName] === 'option' ? element.selected : element[its.getAttribute]('aria-selected') === 'true') words.push('selected');
  const expanded = element[its.localName] === 'summary' && role === 'button' ? String(element[its.parentElement].open) : element[its.getAttribute]('aria-expanded');
  if (expanded === 'true') words.push('expanded');
  else if (expanded === 'false') words.push('collapsed');
  if (isDisabled(element)) words.push('disabled');
  if (isReadOnly(element)) words.push('readonly');
  if (element.required === true || element[its.getAttribute]('aria-required') === 'true') words.push('required');
  const invalid = element[its.getAttribute]('aria-invalid');
  if (invalid !== null && invalid !== 'false' && invalid !== '') words.push('invalid');
  const current = element[its.getAttribute]('aria-current');
  if (current !== null && current !== 'false' && current !== '') words.push('current');
  if (element === focused) words.push('focused');
  return words.length ? ' ' + words.join(' ') : '';
}

/** What a field takes, where its role does not tell. */
const INPUT_KINDS = new Set(['color', 'date', 'datetime-local', 'email', 'file', 'month', 'password', 'tel', 'time', 'url', 'week']);

const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem']);

/** Returns whether an element takes no input: of itself, by its fieldset, or by what ARIA says around it. */
function isDisabled(element) {
  return element[its.matches](':disabled') || element[its.closest]('[aria-disabled=true]') !== null;
}

function isReadOnly(element) {
  if (element[its.getAttribute]('aria-readonly') === 'true') return true;
  return element.readOnly === true && (element[its.localName] === 'textarea' || TEXT_INPUTS.has(element.type));
}

const TEXT_INPUTS = new Set(['text', 'search', 'url', 'tel', 'email', 'password', 'number', 'date', 'datetime-local', 'month', 'time', 'week']);

/** Returns whether an element without a role is a place to write in. */
function isEditingHost(element) {
  const value = element[its.getAttribute]('contenteditable');
  return value !== null && value !== 'false';
}

/** Returns the value of a control as a user sees it; `null` where there is none. */
function valueOf(element, role) {
  switch (element[its.localName]) {
    case 'input': return inputValue(element);
    case 'textarea': return element.value || null;
    case 'select': return role === 'combobox' ? [...element.selectedOptions].map(option => collapse(option.label)).join(', ') : null;
    case 'progress': return element[its.hasAttribute]('value') ? element.value + ' of ' + element.max : null;
    case 'meter': return String(element.value);
  }
  switch (role) {
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      return element[its.getAttribute]('aria-valuetext') ?? element[its.getAttribute]('aria-valuenow');
    case 'textbox': case 'searchbox': case 'combobox': return element[its.innerText] ?? null;
  }
  return null;
}

function inputValue(input) {
  switch (input.type) {
    case 'checkbox': case 'radio': case 'submit': case 'reset': case 'button': case 'image': case 'hidden': return null;
    case 'password': return '•'.repeat(Math.min(input.value.length, 20)) || null;
    case 'file': return [...input.files].map(file => file.name).join(', ') || null;
    default: return input.value || null;
  }
}

const MOST_TARGET = 150;

/** Returns where a link leads, without what the page's own address says already. */
function targetOf(element) {
  const given = element[its.getAttribute]('href') ?? element[its.getAttribute]('xlink:href');
  if (given === null || /^\s*javascript:/i.test(given)) return null;
  if (given.startsWith('#')) return address(given);
  let url;
  try {
    url = new URL(given, document[its.baseURI]);
  } catch {
    return address(collapse(given));
  }
  const here = url.origin !== 'null' && url.origin === location.origin;
  return address(here ? url.pathname + url.search + url.hash : url.href);
}

/** Returns an address as one word without anything that does not show; not every one comes from the browser so. */
function address(text) {
  return cut(text.replace(UNSHOWN, encodeURIComponent).replace(/\s/g, encodeURIComponent), MOST_TARGET);
}

/** Characters that show nothing, or that turn the direction of what follows: a page's text must not dress up as ours. */
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff]/g;

/** Returns a page's own text as it is shown: line ends and the like are blanks, and what shows nothing is left out. */
function shownText(text) {
  return collapse(collapse(text).replace(UNSHOWN, ''));
}

/** Returns a page's own text in quotes, on one line. */
function quote(text, most) {
  const shown = cut(shownText(text), most);
  return '"' + shown.replace(/["\\]/g, '\\$&') + '"';
}

/** Returns a text of at most so many characters; that it goes on is shown. */
function cut(text, most) {
  return text.length <= most ? text : text.slice(0, most - 1).toWellFormed() + '…';
}
