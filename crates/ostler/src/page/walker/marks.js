// What can be acted on and shows, with the place where it is drawn: for numbers over a picture of the page.

/** Goes through a page as its outline does, and keeps the elements in place of the lines. */
class Actable extends Outline {
  constructor(elements) {
    super({ max: Infinity, indent: 0, alone: true, begun: false }, [], elements);
    this.found = new Set();
  }

  line() {}

  /** A frame's own document tells what is in it. */
  frame() {}

  ref(element) {
    if (!isMerePart(element) && !isDisabled(element)) this.found.add(element);
    return '';
  }
}

/** Returns whether an element has a ref only so that one can ask for what it holds. */
function isMerePart(element) {
  return PARTS.has(roleOf(element)) && element[its.tabIndex] < 0;
}

/**
 * Returns the elements that show, `most` of them, each as its number and the part of its box that does: `[number, x, y,
 * width, height]`; and how many more there are.
 */
function marksOf(root, elements, most, limit) {
  const actable = new Actable(elements);
  actable.write(root, null);
  const marks = [];
  let more = 0;
  for (const element of actable.found) {
    const target = drawn(element) === VISIBLE && boxesOf(element).length ? element : standIn(element);
    const box = around(boxesOf(target));
    const shown = box && shownPart(target, element, box, limit);
    if (!shown) continue;
    const number = marks.length < most ? elements.number(element) : null;
    if (number === null) more++;
    else marks.push([number, shown.left, shown.top, shown.right - shown.left, shown.bottom - shown.top]);
  }
  return { marks, more };
}

/** Returns the smallest box around some others; `null` if there are none. */
function around(boxes) {
  if (!boxes.length) return null;
  const least = side => Math.min(...boxes.map(box => box[side])), most = side => Math.max(...boxes.map(box => box[side]));
  return { left: least('left'), top: least('top'), right: most('right'), bottom: most('bottom') };
}

/** Returns what two boxes share; `null` if that is less than a pixel. */
function overlap(one, other) {
  const left = Math.max(one.left, other.left), right = Math.min(one.right, other.right);
  const top = Math.max(one.top, other.top), bottom = Math.min(one.bottom, other.bottom);
  return right - left >= 1 && bottom - top >= 1 ? { left, top, right, bottom } : null;
}

const windowBox = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });

/**
 * Returns the part of a box that shows: within `limit`, if there is one, not scrolled away and not covered as a whole.
 * The box is one of `target`, and a click there is meant for `element`.
 */
function shownPart(target, element, box, limit) {
  let part = limit ? overlap(box, limit) : box;
  let { position } = getComputedStyle(target);
  for (let at = parentOf(target); part && at instanceof Element && position !== 'fixed'; at = parentOf(at)) {
    const style = getComputedStyle(at);
    // What is placed absolutely is not cut off by what it is not placed in.
    if (position === 'absolute' && style.position === 'static' && style.transform === 'none') continue;
    position = style.position;
    const view = cutsOff(at, style) ? viewOf(at) : null;
    if (view) part = overlap(part, { ...view, right: view.left + view.width, bottom: view.top + view.height });
  }
  return part && !isCovered(part, target, element) ? part : null;
}

function cutsOff(box, style) {
  if (box === document[its.body] || box === document[its.documentElement] || !(box instanceof HTMLElement)) return false;
  // What stands in a line of text has no inside that it could cut off.
  return (style.overflowX !== 'visible' || style.overflowY !== 'visible') && box[its.clientWidth] + box[its.clientHeight] > 0;
}

/** Returns whether nothing of a box can be clicked. What is outside of the window is not known to be covered. */
function isCovered(part, target, element) {
  return PLACES.every(([across, down]) => {
    const point = { x: part.left + (part.right - part.left) * across, y: part.top + (part.bottom - part.top) * down };
    if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight) return false;
    const hit = hitAt(point);
    return !reaches(hit, element) && !reaches(hit, target);
  });
}
