// What an element is called: the computation of accessible names, as Chromium does it.

const BLANKS = /\s+/g;

/** Returns an element's name, with its white space collapsed; empty when it has none. */
function nameOf(element, role) {
  return collapse(givenName(element) ?? nativeName(element, role) ?? '');
}

/** Whether labels are being read to which an `aria-labelledby` points. */
const naming = { byLabels: false };

/** The name that ARIA gives, whatever the element is. */
function givenName(element) {
  const ids = element[its.getAttribute]('aria-labelledby');
  if (ids !== null && !naming.byLabels) {
    const labels = referenced(element, ids);
    // What a label is labelled by itself is not followed: they may name each other in a circle.
    naming.byLabels = true;
    const text = labels.map(label => collapse(labelText(label, element))).filter(Boolean).join(' ');
    naming.byLabels = false;
    if (text) return text;
  }
  const label = element[its.getAttribute]('aria-label');
  return hasText(label) ? label : null;
}

/** Returns the text of what `aria-labelledby` points to: all of it, also where it is hidden itself. */
function labelText(label, asker) {
  const own = label[its.getAttribute]('aria-label');
  if (hasText(own)) return own;
  const hidden = drawn(label) !== VISIBLE || isWithheld(label);
  if (label !== asker) {
    const value = embeddedValue(label);
    if (value !== null) return value;
  }
  const native = attributeName(label, tagOf(label));
  if (native !== null) return native;
  return contentText(label, { hidden, deep: 0 }) || label[its.getAttribute]('title') || '';
}

function nativeName(element, role) {
  const tag = tagOf(element);
  const native = attributeName(element, tag);
  if (native !== null) return native;
  const labels = labelsOf(element);
  if (labels.length && tag !== 'output') {
    const text = labels.filter(label => drawn(label) === VISIBLE)
      .map(label => collapse(contentText(label, { for: element, deep: 0 }))).filter(Boolean).join(' ');
    if (text) return text;
  }
  const part = namingPart(element, tag);
  if (part) {
    const text = collapse(contentText(part, { deep: 0 }));
    if (text) return text;
  }
  if (NAMED_BY_CONTENT.has(role) && tag !== 'input' && tag !== 'select' && tag !== 'textarea') {
    const text = collapse(contentText(element, { deep: 0, own: role === 'treeitem' || role === 'menuitem' }));
    if (text) return text;
  }
  const title = element[its.getAttribute]('title');
  if (hasText(title)) return title;
  if (tag === 'input' && (element.type === 'submit' || element.type === 'image')) return element[its.hasAttribute]('value') ? '' : 'Submit';
  if (tag === 'input' && element.type === 'reset') return element[its.hasAttribute]('value') ? '' : 'Reset';
  if (tag === 'summary') return 'Details';
  const placeholder = element[its.getAttribute]('placeholder') ?? element[its.getAttribute]('aria-placeholder');
  return hasText(placeholder) && (tag === 'input' || tag === 'textarea' || role === 'textbox' || role === 'searchbox') ? placeholder : null;
}

/** The name that an attribute of the element's own gives. */
function attributeName(element, tag) {
  switch (tag) {
    case 'img': case 'area': return hasText(element[its.getAttribute]('alt')) ? element[its.getAttribute]('alt') : null;
    case 'input':
      if (element.type === 'image') return hasText(element[its.getAttribute]('alt')) ? element[its.getAttribute]('alt') : null;
      return ['submit', 'reset', 'button'].includes(element.type) && hasText(element.value) ? element.value : null;
    case 'option': case 'optgroup': return hasText(element[its.getAttribute]('label')) ? element[its.getAttribute]('label') : null;
    case 'svg:svg': case 'svg:a': case 'svg:g': case 'svg:rect': case 'svg:path': case 'svg:circle': {
      const title = element[its.querySelector](':scope > title');
      return title ? title[its.textContent] : null;
    }
    default: return null;
  }
}

/** The child that names its parent. */
function namingPart(element, tag) {
  switch (tag) {
    case 'fieldset': return element[its.querySelector](':scope > legend');
    case 'table': return element.caption;
    default: return null;
  }
}

/** Returns what a control inside of a label adds to it: the value, not the name. */
function embeddedValue(element) {
  switch (element[its.localName]) {
    case 'input':
      if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'hidden', 'file', 'color'].includes(element.type)) return null;
      return element.type === 'password' ? '•'.repeat(element.value.length) : element.value;
    case 'textarea': return element.value;
    case 'select': return [...element.selectedOptions].map(option => option.label).join(' ');
    case 'progress': case 'meter': return String(element.value);
  }
  switch (element[its.getAttribute]('role')) {
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      return element[its.getAttribute]('aria-valuetext') ?? element[its.getAttribute]('aria-valuenow') ?? '';
    case 'textbox': case 'searchbox': return element[its.textContent];
    case 'combobox': case 'listbox': {
      const chosen = element[its.querySelector]('[role=option][aria-selected=true]');
      return chosen ? chosen[its.textContent] : element[its.textContent];
    }
  }
  return null;
}

/**
 * Returns the text inside of an element, uncollapsed.
 * `how.for` is the control that is being named: it does not add to its own label. With `how.own` groups, menus and
 * trees that are inside belong to themselves. With `how.hidden` what is hidden counts.
 */
function contentText(element, how) {
  if (how.deep > 60) return '';
  let text = pseudoText(element, '::before');
  let transform;
  for (const node of childrenOf(element)) {
    if (node[its.nodeType] === Node.TEXT_NODE) {
      if (how.unseen) continue;
      const data = node.data;
      if (!how.hidden && BLANK.test(data)) { text += data; continue; }
      transform ??= getComputedStyle(element).textTransform;
      text += transform === 'none' ? data : transformed(data, transform);
    } else if (node[its.nodeType] === Node.ELEMENT_NODE) text += childText(node, how);
    if (text.length > MOST_TEXT) return text;
  }
  return text + pseudoText(element, '::after');
}

/** What is drawn of these is not said: scripts, and the readings above ruby text. */
const NO_TEXT = new Set(['script', 'style', 'template', 'noscript', 'rt', 'rp']);
const BLANK = /^[ \t\n\r\f]*$/;
/** More of a name is never shown. */
const MOST_TEXT = 2000;

function childText(element, how) {
  const name = element[its.localName];
  if (name === 'br') return '\n';
  if (NO_TEXT.has(name)) return '';
  if (element === how.for) return ' ';
  let unseen = false;
  if (!how.hidden) {
    if (isWithheld(element)) return '';
    const state = drawn(element);
    if (state === GONE) return '';
    unseen = state === UNSEEN;
  }
  const role = roleOf(element);
  if (how.own && (role === 'group' || role === 'menu' || role === 'tree' || role === 'treeitem' || role === 'list')) return ' ';
  if (INTERACTIVE.has(role) || element[its.tabIndex] >= 0) told.interactive = true;
  let text;
  if (unseen) text = contentText(element, { ...how, deep: how.deep + 1, unseen });
  else text = givenName(element) ?? embeddedValue(element) ?? attributeName(element, tagOf(element));
  if (text === null) {
    text = name === 'select' ? '' : contentText(element, { ...how, deep: how.deep + 1, unseen });
    if (BLANK.test(text)) text = element[its.getAttribute]('title') || text;
  }
  return isInline(element) ? text : ' ' + text + ' ';
}

/** What the computation of a name met on its way, for whoever prints the element. */
const told = { interactive: false };

function isInline(element) {
  const display = getComputedStyle(element).display;
  return display === 'inline' || display === 'contents' || display.startsWith('ruby');
}

/** Returns the text that a style sheet puts before or behind an element's content. */
function pseudoText(element, which) {
  if (!mayHavePseudoText(element)) return '';
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (content === 'none' || content === 'normal' || style.display === 'none') return '';
  // `"shown" / "said"` has a text of its own for those who hear it.
  const said = content.lastIndexOf(' / ');
  const strings = (said < 0 ? content : content.slice(said + 3)).match(/"(?:[^"\\]|\\.)*"/g);
  if (!strings) return '';
  const text = strings.map(quoted => quoted.slice(1, -1).replace(/\\(.)/g, '$1')).join('');
  return style.display === 'inline' ? text : ' ' + text + ' ';
}

/** How many rules are looked through: beyond them, asking each element is as quick. */
const MOST_RULES = 5000;

/**
 * Returns whether any style sheet speaks of text before or behind elements. Most pages have one that does; where none
 * does it saves 20 µs on each element.
 */
function mayHavePseudoText(element) {
  // Who looks into a shadow tree would have to look through its own sheets.
  if (element[its.getRootNode]() !== document) return true;
  const left = { rules: MOST_RULES };
  page.pseudo ??= [...document[its.styleSheets], ...document[its.adoptedStyleSheets]].some(sheet => {
    try {
      return rulesHavePseudo(sheet.cssRules, left);
    } catch {
      // A sheet of another site, which does not let itself be read.
      return true;
    }
  });
  return page.pseudo;
}

function rulesHavePseudo(rules, left) {
  for (const rule of rules) {
    if (--left.rules < 0 || /:(before|after)/.test(rule.selectorText ?? '') || rule.styleSheet) return true;
    if (rule.cssRules?.length && rulesHavePseudo(rule.cssRules, left)) return true;
  }
  return false;
}

function transformed(text, transform) {
  switch (transform) {
    case 'uppercase': return text.toUpperCase();
    case 'lowercase': return text.toLowerCase();
    case 'capitalize': return text.replace(/(^|\s)(\S)/g, (_, before, letter) => before + letter.toUpperCase());
    default: return text;
  }
}

function collapse(text) {
  return text.replace(BLANKS, ' ').trim();
}
