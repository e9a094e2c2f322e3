// Which element a number stands for, and how it is reached with the mouse.

/** Numbers are given out once and never again; they do not keep an element alive. */
class Elements {
  constructor() {
    this.numbers = new WeakMap();
    this.rests = { at: new WeakMap(), behind: new WeakMap() };
    this.entries = new Map();
  }

  /** Makes numbers available for one outline: `count` from `first` on. Those before `oldest` are not to be shown again. */
  lend({ first, count, oldest }) {
    this.next = first;
    this.end = first + count;
    this.oldest = oldest;
    if (this.entries.size > 20000) for (const [number, entry] of this.entries) if (!entry.node.deref()) this.entries.delete(number);
  }

  /** Returns an element's number, a new one if it has none; `null` if there is none to give. */
  number(element) {
    const known = this.numbers.get(element);
    if (known >= this.oldest) return known;
    const number = this.add({ node: new WeakRef(element) });
    if (number !== null) this.numbers.set(element, number);
    return number;
  }

  /** Returns a number for where an outline was cut: it goes on at or `behind` a node, inside of `root`. */
  rest(node, root, behind) {
    const known = behind ? this.rests.behind : this.rests.at;
    const before = known.get(node);
    const number = before >= this.oldest ? before : this.add({ node: new WeakRef(node), root: new WeakRef(root), behind });
    if (number !== null) {
      // The same place has the same number in the next outline; only what is shown of it may be another part by then.
      this.entries.get(number).root = new WeakRef(root);
      known.set(node, number);
    }
    return number;
  }

  add(entry) {
    if (this.next >= this.end) return null;
    this.entries.set(this.next, entry);
    return this.next++;
  }

  of(number) {
    return this.entries.get(number)?.node.deref() ?? null;
  }

  entry(number) {
    return this.entries.get(number);
  }
}

/** Returns an element in words, as `button "Save"`. */
function describe(element) {
  const own = roleOf(element);
  const role = TRANSPARENT.has(own) && isEditingHost(element) ? 'textbox' : own;
  const name = nameOf(element, role);
  if (!TRANSPARENT.has(role)) return name ? `${role} ${quote(name, 80)}` : role;
  const text = collapse(element[its.textContent].slice(0, 400));
  const [word, given] = element[its.id] ? ['id', element[its.id]] : ['class', element[its.getAttribute]('class')?.trim()];
  const id = given ? ` ${word}=${quote(given, 40)}` : '';
  return `<${element[its.localName].replace(UNSHOWN, '')}${id}>` + (text ? ` ${quote(text, 60)}` : '');
}

/** Returns the rectangles that an element is drawn in, those of its content if it has none itself and hides nothing. */
function boxesOf(element) {
  const filled = rects => [...rects].filter(rect => rect.width >= 1 && rect.height >= 1);
  const own = filled(element[its.getClientRects]());
  if (own.length || getComputedStyle(element).overflowX !== 'visible') return own;
  const range = document[its.createRange]();
  range.selectNodeContents(element);
  return filled(range.getClientRects());
}

const middle = box => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });

/** Scrolls whatever scrolls around an element, until a point of it is in view. `center` brings it to the middle. */
function reveal(element, pointNow, center) {
  let box = element;
  for (; box instanceof Element; box = parentOf(box)) {
    const style = getComputedStyle(box);
    if (box !== element && isScroller(box, style)) {
      const point = pointNow();
      const { left, top, width, height, scale } = viewOf(box);
      const dx = shift(point.x - left, width, center), dy = shift(point.y - top, height, center);
      if (dx || dy) box[its.scrollBy]({ left: dx / scale.x, top: dy / scale.y, behavior: 'instant' });
    }
    // What is fixed to the window does not move when the window scrolls.
    if (style.position === 'fixed') return;
  }
  const point = pointNow();
  const dx = shift(point.x, innerWidth, center), dy = shift(point.y, innerHeight, center);
  if (dx || dy) scrollBy({ left: dx, top: dy, behavior: 'instant' });
}

/** Returns where the inside of an element is drawn, without borders and scrollbars, and how much larger than it is laid out. */
function viewOf(box) {
  const rect = box[its.getBoundingClientRect]();
  const scale = { x: rect.width / box[its.offsetWidth] || 1, y: rect.height / box[its.offsetHeight] || 1 };
  return {
    left: rect.left + box[its.clientLeft] * scale.x,
    top: rect.top + box[its.clientTop] * scale.y,
    width: box[its.clientWidth] * scale.x,
    height: box[its.clientHeight] * scale.y,
    scale,
  };
}

function isScroller(box, style) {
  if (box === document[its.body] || box === document[its.documentElement] || !(box instanceof HTMLElement)) return false;
  if (box[its.scrollHeight] <= box[its.clientHeight] && box[its.scrollWidth] <= box[its.clientWidth]) return false;
  return (style.overflowY !== 'visible' && style.overflowY !== 'clip') || (style.overflowX !== 'visible' && style.overflowX !== 'clip');
}

/** Returns how far to scroll so that a place is inside of a length; 0 if it is. */
function shift(place, length, center) {
  return center || place < 1 || place > length - 1 ? place - length / 2 : 0;
}

/** Returns the element that a click at a point reaches, in whichever shadow tree. */
function hitAt(point) {
  let hit = document[its.elementFromPoint](point.x, point.y);
  while (hit && shadowOf(hit)) {
    const inner = shadowOf(hit)[its.elementFromPoint](point.x, point.y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

/** Returns whether a click on `hit` is one on `element`. */
function reaches(hit, element) {
  if (!hit) return false;
  if (holds(element, hit)) return true;
  const label = hit[its.closest]('label');
  return label !== null && label.control === element;
}

/** Returns where a control can be clicked that is not drawn itself: its label. */
function standIn(element) {
  const label = labelsOf(element).find(label => drawn(label) === VISIBLE && boxesOf(label).length);
  return label ?? element;
}

/** Where in a box a click may go, the middle first. */
const PLACES = [[.5, .5], [.25, .5], [.75, .5], [.5, .25], [.5, .75], [.1, .1], [.9, .9]];

/**
 * Brings an element into view and returns the point to click at, in the coordinates of this document's own window; or
 * what stands in the way, as `{ fault, ... }`.
 */
function reach(element, use) {
  const what = describe(element);
  const facts = { what, width: innerWidth, height: innerHeight };
  if (!element[its.isConnected]) return { ...facts, fault: 'removed' };
  if (use !== 'look' && isDisabled(element)) return { ...facts, fault: 'disabled' };
  if (use === 'type' && isReadOnly(element)) return { ...facts, fault: 'readonly' };
  let target = element;
  const seen = drawn(element);
  if (seen !== VISIBLE || !boxesOf(element).length) {
    target = standIn(element);
    if (target === element) {
      if (seen !== VISIBLE) return { ...facts, fault: 'hidden' };
      return { ...facts, fault: 'empty' };
    }
  }
  const candidates = () => {
    const boxes = boxesOf(target);
    const points = boxes.map(middle);
    const largest = boxes.reduce((most, box) => box.width * box.height > most.width * most.height ? box : most);
    for (const [across, down] of PLACES) points.push({ x: largest.left + largest.width * across, y: largest.top + largest.height * down });
    return points;
  };
  const first = () => middle(boxesOf(target)[0] ?? target[its.getBoundingClientRect]());
  let over = null;
  for (const center of [false, true]) {
    reveal(target, first, center);
    for (const point of candidates()) {
      if (point.x < 0 || point.y < 0 || point.x > innerWidth || point.y > innerHeight) continue;
      if (use === 'look') return { ...facts, ...point };
      const hit = hitAt(point);
      if (reaches(hit, element) || reaches(hit, target)) return { ...facts, ...point };
      over ??= hit;
    }
  }
  if (over === null) return { ...facts, fault: 'outside' };
  return { ...facts, ...obstacle(over, target) };
}

/** Returns why a click that was meant for an element reaches another one. */
function obstacle(hit, element) {
  const through = letsThrough(element);
  if (through) return { fault: 'through', by: through === element ? '' : describe(through) };
  // What holds it does not cover it: nothing of it is drawn there.
  if (holds(hit, element)) return { fault: 'clipped', by: describe(hit) };
  return { fault: 'covered', by: describe(coverOf(hit, element)) };
}

/** Returns the element that has clicks go through another one, itself or the outermost around it that says so; `null` if none. */
function letsThrough(element) {
  let source = null;
  for (let at = element; at instanceof Element && getComputedStyle(at).pointerEvents === 'none'; at = parentOf(at)) source = at;
  return source;
}

/** Returns the part of the page that covers an element: the outermost that does not hold the element as well. */
function coverOf(hit, element) {
  let cover = hit;
  for (let at = hit; at instanceof Element && !holds(at, element); at = parentOf(at)) {
    if (!TRANSPARENT.has(roleOf(at)) || at[its.id]) cover = at;
    if (INTERACTIVE.has(roleOf(at)) || roleOf(at) === 'dialog') return at;
  }
  return cover;
}

/** Brings a point inside of a frame element into view, and returns where it is then; `point` is where it is now. */
function passThrough(frame, point) {
  const before = frame[its.getBoundingClientRect]();
  const offset = { x: point.x - before.left, y: point.y - before.top };
  const now = () => {
    const rect = frame[its.getBoundingClientRect]();
    return { x: rect.left + offset.x, y: rect.top + offset.y };
  };
  const facts = { what: describe(frame), width: innerWidth, height: innerHeight };
  if (drawn(frame) !== VISIBLE) return { ...facts, fault: 'hidden' };
  let over = null;
  for (const center of [false, true]) {
    reveal(frame, now, center);
    const at = now();
    if (at.x < 0 || at.y < 0 || at.x > innerWidth || at.y > innerHeight) continue;
    over = hitAt(at);
    if (over === frame) return { ...facts, ...at };
  }
  if (over === null) return { ...facts, fault: 'outside' };
  return { ...facts, ...obstacle(over, frame) };
}

/** The nearest of these is what a click at a place is meant for. */
const ACTORS = 'a, button, input, select, textarea, label, summary, [role]';

/** Returns what is at a place of the window in words, as `<button> "Save"`; `null` outside of it. */
function whatIsAt(point) {
  const size = { width: innerWidth, height: innerHeight };
  const hit = hitAt(point);
  if (!hit) return { what: null, ...size };
  const actor = hit[its.closest](ACTORS) ?? hit;
  const text = collapse(actor[its.getAttribute]('aria-label') || actor[its.innerText] || actor[its.getAttribute]('placeholder') || '');
  return { what: `<${actor[its.localName].replace(UNSHOWN, '')}>` + (text ? ` ${quote(text, 60)}` : ''), ...size };
}

let stopWatching = null;
let mouseHasCome = false;

/** Takes note of the mouse from now on, until it has come into this document's window. */
function watchMouse() {
  stopWatching?.();
  mouseHasCome = false;
  const note = () => {
    mouseHasCome = true;
    stopWatching?.();
  };
  stopWatching = () => removeEventListener('mousemove', note, true);
  addEventListener('mousemove', note, true);
  return true;
}

/** Returns whether a click at a point still is one on an element, or on the label that stands for it. */
function isAt(element, point) {
  const hit = hitAt(point);
  return reaches(hit, element) || reaches(hit, standIn(element));
}
