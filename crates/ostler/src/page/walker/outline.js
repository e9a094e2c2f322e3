// The page as lines of text: one for each thing that a user could perceive or act on.
//
//   heading 1 "Checkout"
//   textbox "Email" [e1] = "ada@example.com" type=email required
//   list
//    - link "Terms" [e2] → /terms
//   "A paragraph of the page's own text."
//
// All that comes from the page stands in quotes, or is an address at the end of a line, which has no blanks in it: so no
// page can write a line, or a ref, that looks like ours.

const MODAL = 'A modal dialog is open: the rest of this page cannot be used before it is closed.';
const MOST_NAME = 200;
const MOST_VALUE = 200;
const MOST_RUN = 1000;
const MOST_ABOVE = 100;
const MOST_OPTIONS = 20;
/** How long a list item or a table row may be to stand on one line. */
const MOST_INLINE = 400;

/** Landmarks and the like: they get a ref, so that one can ask for what they hold alone. */
const PARTS = new Set(['dialog', 'alertdialog', 'form', 'main', 'navigation', 'region', 'search', 'table', 'grid', 'treegrid', 'tree', 'feed', 'article', 'complementary', 'menu', 'tablist', 'tabpanel', 'banner', 'contentinfo']);
/** What is inside of these is not looked at: the name says it. */
const LEAVES = new Set(['img', 'progressbar', 'meter', 'slider', 'scrollbar', 'separator', 'spinbutton', 'math', 'video', 'audio', 'embedded']);
const CELLS = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);
/** Interactive roles inside of which others of their kind stand. */
const NESTING = new Set(['treeitem', 'menuitem', 'tab']);

class Outline {
  /**
   * `how.max` and `how.indent` are the room that there is. With `how.begun` there are lines above already. With
   * `how.alone` one element was asked for, and nothing in it is shortened. `frames` are the elements whose documents
   * stand apart.
   */
  constructor(how, frames, elements) {
    this.how = how;
    this.frames = frames;
    this.elements = elements;
    this.lines = [];
    this.length = 0;
    this.room = how.max;
    this.stop = null;
    this.run = '';
    this.runNode = null;
    this.muted = 0;
    this.inControl = 0;
    this.inline = null;
    this.focused = focusedElement();
  }

  /**
   * Writes what is inside of `root`, or up to where something stops it. With `start` it begins at that node, or behind
   * it, and repeats the lines above of it if it is `told` to.
   */
  write(root, start) {
    this.root = root;
    if (start?.node === root) {
      // Behind the whole there is nothing more.
      if (start.behind) return;
    } else if (start) {
      this.path = new Set();
      this.start = start;
      for (let at = start.node; at && at !== root; at = tellerOf(at)) this.path.add(at);
    }
    const depth = this.how.indent;
    if (root === wholePage() || root === document[its.documentElement]) this.children(root, depth, VISIBLE);
    else this.element(root, depth);
    this.flush(depth);
  }

  /** Returns whether a node comes before the place to go on from. */
  isBefore(node) {
    if (!this.path) return false;
    if (!this.path.has(node)) return true;
    if (node === this.start.node) {
      this.path = null;
      return this.start.behind;
    }
    return false;
  }

  children(parent, depth, state) {
    for (const node of childrenOf(parent)) {
      if (this.stop) return;
      if (node[its.nodeType] === Node.TEXT_NODE) {
        if (state === VISIBLE && !this.muted && !this.isBefore(node)) this.text(node);
      } else if (node[its.nodeType] === Node.ELEMENT_NODE) {
        if (this.path && this.isBefore(node)) continue;
        this.element(node, depth);
      }
    }
  }

  text(node) {
    const data = node.data;
    if (BLANK.test(data)) {
      if (this.run) this.run += ' ';
      return;
    }
    this.runNode ??= node;
    this.run += data;
  }

  element(element, depth) {
    if (isWithheld(element)) return;
    const state = drawn(element);
    if (state === GONE) return this.goneElement(element, depth);
    if (element[its.localName] === 'br') { if (this.run) this.run += ' '; return; }
    noteHost(element);
    const role = roleOf(element);
    if (state === UNSEEN) return this.children(element, depth, UNSEEN);
    if (TRANSPARENT.has(role)) return this.transparent(element, role, depth);
    this.flush(depth);
    if (!this.stop) this.told(element, role, depth);
  }

  /** A control that the page draws itself, by its label: the label is what one can act on. */
  goneElement(element, depth) {
    if (element[its.localName] !== 'input' || (element.type !== 'checkbox' && element.type !== 'radio' && element.type !== 'file')) return;
    const label = labelsOf(element).find(label => drawn(label) === VISIBLE);
    if (!label) return;
    this.flush(depth);
    const role = roleOf(element);
    this.line(element, depth, `${role} ${quote(nameOf(element, role), MOST_NAME)} ${this.ref(label)}${statesOf(element, role, this.focused)}`);
  }

  /** What has no line of its own, unless it can be clicked. */
  transparent(element, role, depth) {
    const style = getComputedStyle(element);
    const block = style.display !== 'inline' && style.display !== 'contents';
    if (block) this.flush(depth);
    if (isEditingHost(element)) {
      this.flush(depth);
      return this.told(element, 'textbox', depth);
    }
    if (role !== 'label' && this.isClickable(element, style)) {
      this.flush(depth);
      return this.clickable(element, depth);
    }
    const mutes = isNameOfAnother(element, role);
    if (mutes) this.muted += 1;
    this.children(element, depth, VISIBLE);
    if (mutes) this.muted -= 1;
    if (block) this.flush(depth);
    else if (this.run && role === 'label') this.run += ' ';
  }

  /** Returns whether a user would take an element that is no control for one to click at. */
  isClickable(element, style) {
    if (this.inControl) return false;
    if (element[its.hasAttribute]('onclick') || (element[its.tabIndex] >= 0 && element[its.hasAttribute]('tabindex'))) return true;
    if (style.cursor !== 'pointer') return false;
    const parent = parentOf(element);
    return !(parent instanceof Element) || getComputedStyle(parent).cursor !== 'pointer';
  }

  clickable(element, depth) {
    told.interactive = false;
    const name = collapse(givenName(element) ?? contentText(element, { deep: 0 }));
    const plain = !told.interactive && name.length <= MOST_NAME;
    const given = plain && name ? ' ' + quote(name, MOST_NAME) : '';
    this.line(element, depth, `clickable${given} ${this.ref(element)}${statesOf(element, 'generic', this.focused)}`);
    if (plain || this.stop) return;
    this.inControl += 1;
    this.children(element, depth + 1, VISIBLE);
    this.flush(depth + 1);
    this.inControl -= 1;
  }

  /** An element with a line of its own. */
  told(element, role, depth) {
    if (role === 'row' && !this.path && this.row(element, depth)) return;
    if (role === 'listitem') return this.item(element, depth);
    if (role === 'iframe') return this.frame(element, depth);
    told.interactive = false;
    const name = nameOf(element, role);
    const holdsOthers = told.interactive;
    const acts = INTERACTIVE.has(role);
    const byContent = NAMED_BY_CONTENT.has(role);
    const showsName = name && (acts || !byContent || !holdsOthers);
    const clickable = !acts && this.isClickable(element, getComputedStyle(element));
    if (role === 'img' && !name && !clickable) return;
    let line = role;
    if (role === 'heading') line += ' ' + levelOf(element);
    if (showsName) line += ' ' + quote(name, MOST_NAME);
    if (acts || clickable || PARTS.has(role) || isFocusable(element)) line += ' ' + this.ref(element);
    const value = valueOf(element, role);
    // An empty editor holds a line end.
    if (value && !BLANK.test(value)) line += ' = ' + quote(value, MOST_VALUE);
    line += statesOf(element, role, this.focused);
    const target = role === 'link' ? targetOf(element) : null;
    if (target) line += ' → ' + target;
    if (element[its.localName] === 'select') return this.select(element, line, depth);
    this.line(element, depth, line);
    if (this.stop || LEAVES.has(role) || element[its.localName] === 'input' || element[its.localName] === 'textarea' || role === 'textbox') return;
    if (byContent && showsName && !holdsOthers && !NESTING.has(role)) {
      if (!this.path) return;
    }
    this.inside(element, depth + 1, acts && (byContent || value !== null));
  }

  /** The content of an element that has been told. A control's text has been: only what else can be acted on is left. */
  inside(element, depth, muted) {
    const before = [this.muted, this.inControl];
    if (muted) {
      this.muted += 1;
      this.inControl += 1;
    } else if (this.inControl && !INTERACTIVE.has(roleOf(element))) {
      // A group or menu inside of an item is for itself again.
      this.muted = 0;
      this.inControl = 0;
    }
    this.children(element, depth, VISIBLE);
    this.flush(depth);
    [this.muted, this.inControl] = before;
  }

  select(element, line, depth) {
    const options = [...element.options].filter(option => !option.hidden);
    const all = this.root === element;
    const shown = all ? options : options.slice(0, MOST_OPTIONS);
    const texts = shown.map(option => quote(option.label, MOST_NAME) + (option.selected && element.multiple ? ' selected' : '') + (option.disabled || option[its.parentElement].disabled ? ' disabled' : ''));
    const left = options.length - shown.length;
    if (left > 0) texts.push(`… ${left} more, see them with its ref`);
    this.line(element, depth, line);
    if (this.stop || !texts.length) return;
    if (!all) return this.line(element, depth + 1, 'options: ' + texts.join(' | '));
    for (const [at, text] of texts.entries()) {
      if (this.length + depth + text.length + 60 > this.room) {
        return this.line(element, depth + 1, `… ${texts.length - at} options more, with a larger max_chars`);
      }
      this.line(element, depth + 1, 'option ' + text);
    }
  }

  /** Writes a table's row on one line where it fits; returns whether it did. */
  row(row, depth) {
    const cells = [];
    let headers = 0, count = 0;
    for (const cell of childrenOf(row)) {
      if (cell[its.nodeType] !== Node.ELEMENT_NODE || isWithheld(cell) || drawn(cell) !== VISIBLE) continue;
      const role = roleOf(cell);
      if (!CELLS.has(role)) return false;
      const text = this.inlined(cell, depth);
      if (text === null) return false;
      count += 1;
      if (role === 'columnheader') headers += 1;
      const states = statesOf(cell, role, this.focused);
      cells.push(text + (isFocusable(cell) ? ' ' + this.ref(cell) : '') + states);
    }
    const kind = headers && headers === count ? 'columns' : 'row';
    const ref = isFocusable(row) || this.isClickable(row, getComputedStyle(row)) ? ' ' + this.ref(row) : '';
    const line = `${kind}${ref}${statesOf(row, 'row', this.focused)}: ${cells.join(' | ')}`;
    if (line.length > 2 * MOST_INLINE) return false;
    this.line(row, depth, line);
    return true;
  }

  item(item, depth) {
    const ref = isFocusable(item) || this.isClickable(item, getComputedStyle(item)) ? ' ' + this.ref(item) : '';
    const text = this.path ? null : this.inlined(item, depth);
    const head = '-' + ref + statesOf(item, 'listitem', this.focused);
    if (text !== null) return text || ref ? this.line(item, depth, text ? head + ' ' + text : head) : undefined;
    this.line(item, depth, head);
    if (!this.stop) this.inside(item, depth + 1, false);
  }

  /** Returns what is inside of an element as one line; `null` if it is more than that. */
  inlined(element, depth) {
    const before = { lines: this.lines, length: this.length, room: this.room, inline: this.inline };
    const cell = this.inline ?? { depth };
    [this.lines, this.length, this.room, this.inline] = [[], 0, MOST_INLINE, cell];
    this.children(element, cell.depth, VISIBLE);
    this.flush(cell.depth);
    const text = this.stop ? null : this.lines.join(', ').trim();
    Object.assign(this, before);
    this.stop = null;
    this.run = '';
    this.runNode = null;
    return text;
  }

  frame(element, depth) {
    const name = collapse(givenName(element) ?? element[its.title] ?? '');
    if (this.inline) return void (this.stop = 'nested');
    const at = this.frames.indexOf(element);
    this.line(element, depth, `iframe${name ? ' ' + quote(name, MOST_NAME) : ''} ${this.ref(element)}`);
    if (this.stop || at < 0) return;
    this.stop = { frame: at, indent: depth + 1 };
  }

  /** Ends the text that was gathered, as a line. */
  flush(depth) {
    if (!this.run) return;
    const text = shownText(this.run);
    const node = this.runNode;
    this.run = '';
    this.runNode = null;
    if (!text || this.stop) return;
    const most = this.how.alone || text.length <= MOST_RUN ? text.length : MOST_RUN;
    let line = quote(text, most);
    if (most < text.length) line += ` ${this.ref(parentOf(node))} has ${text.length - most} characters more`;
    this.line(node, depth, line);
  }

  line(node, depth, text) {
    if (this.path) {
      // Above the place to go on from: repeated only to say where one is, as long as there is room for more.
      if (!this.start.told || this.length > this.room / 4) return;
      text = cut(text, MOST_ABOVE);
    }
    if (this.inline && depth !== this.inline.depth) return void (this.stop = 'nested');
    const cost = depth + text.length + 1;
    if (this.length + cost > this.room) {
      if (this.inline) return void (this.stop = 'nested');
      if (this.lines.length || this.how.begun) {
        this.stop = { cut: node };
        return;
      }
      // A line that has no room even alone would be asked for again for ever.
      text = cut(text, Math.max(this.room - depth - 1, 1));
    }
    this.lines.push(this.inline ? text : ' '.repeat(depth) + text);
    this.length += cost;
  }

  ref(element) {
    const number = this.elements.number(element);
    if (number === null) {
      this.stop ??= { cut: element };
      return '';
    }
    return `[e${number}]`;
  }
}

/** Returns how deep a heading stands. */
function levelOf(heading) {
  const given = heading[its.getAttribute]('aria-level')?.trim();
  if (/^[1-9][0-9]?$/.test(given)) return given;
  return heading[its.localName].match(/^h([1-6])$/)?.[1] ?? '2';
}

/** Returns whether an element's text is told as the name of a control, a group or a table. */
function isNameOfAnother(element, role) {
  switch (role) {
    case 'label': return Boolean(element.control) && drawn(element.control) !== UNSEEN && !isWithheld(element.control);
    case 'legend': return element[its.parentElement]?.[its.localName] === 'fieldset';
    case 'caption': return element[its.parentElement]?.[its.localName] === 'table';
    default: return false;
  }
}
