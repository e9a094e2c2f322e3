// What the daemon calls. One walker lives in an isolated world of each document that was looked at; the page itself
// can neither see nor change it.

const elements = new Elements();

/** Returns what holds the whole page: its script may have taken out the elements that do. */
const wholePage = () => document[its.body] ?? document[its.documentElement] ?? document;

/** Returns the part of a page that can be used: all of it, or the modal dialog that is open on it. */
function usablePart() {
  return [...document[its.querySelectorAll]('dialog:modal')].at(-1) ?? wholePage();
}

/**
 * Returns which element to show and where in it to begin: `number` is an element's, or that of a place where an
 * outline was cut; `frame` the frame element behind which to go on.
 */
function scope(number, frame) {
  const behind = frame && { node: frame, behind: true, told: false };
  if (number === null) return { root: usablePart(), start: behind };
  const entry = elements.entry(number);
  const node = entry?.node.deref();
  if (!node?.[its.isConnected]) return null;
  if (!entry.root) return { root: node, start: behind };
  const root = entry.root.deref() ?? wholePage();
  return { root, start: behind ?? { node, behind: entry.behind, told: true } };
}

return {
  /** Returns the lines from one place to the next stop: the end, a frame, or the end of the room. */
  outline(how, ...frames) {
    lookAround();
    elements.lend(how);
    const about = { title: document[its.title].toWellFormed(), url: location.href };
    const part = scope(how.root, how.after === null ? null : frames[how.after]);
    if (!part) return { page: about, removed: true };
    const alone = how.root !== null && part.start === null;
    const outline = new Outline({ ...how, alone }, frames, elements);
    if (how.root === null && part.root !== wholePage() && how.after === null) outline.line(part.root, how.indent, MODAL);
    outline.write(part.root, part.start);
    const { stop } = outline;
    return {
      page: about,
      text: outline.lines.join('\n').toWellFormed(),
      length: outline.length,
      frame: stop?.frame ?? null,
      indent: stop?.indent ?? 0,
      cut: Boolean(stop?.cut),
      rest: stop?.cut ? elements.rest(stop.cut, part.root, false) : null,
      next: elements.next,
      unsure: closed.unsure.length,
    };
  },

  /** Returns the elements of the last walk that may have a closed shadow tree. */
  unsure() {
    return closed.unsure;
  },

  /** Takes in the closed shadow trees that they have. */
  adopt(...trees) {
    return adopt(trees);
  },

  /** Returns a number for what comes behind a frame element, in the part of the page that was shown. */
  behind(how, frame) {
    lookAround();
    elements.lend(how);
    const part = scope(how.root, frame);
    return { rest: elements.rest(frame, part?.root ?? wholePage(), true), next: elements.next };
  },

  /** Returns the element itself. */
  element(number) {
    return elements.of(number);
  },

  /** Brings an element into view and returns where to click at it, or what is in the way. */
  reach(number, use) {
    lookAround();
    const entry = elements.entry(number);
    const element = entry?.node.deref();
    if (entry?.root) return { fault: 'rest' };
    return element ? reach(element, use) : { fault: 'removed' };
  },

  /** The same for a frame element and a point inside of it. */
  passThrough(frame, point) {
    lookAround();
    return passThrough(frame, point);
  },

  /** Returns whether a click at a point of this document's window still reaches an element. */
  isAt(number, point) {
    lookAround();
    const element = elements.of(number);
    return Boolean(element?.[its.isConnected]) && isAt(element, point);
  },

  /** Takes note of the mouse from now on, until it has come into this document's window. */
  watchMouse() {
    return watchMouse();
  },

  /** Returns whether it has come since. */
  mouseCame() {
    return mouseHasCome;
  },

  /** Returns what is at a point of this document's window, and the window's size. */
  whatIsAt(point) {
    lookAround();
    return whatIsAt(point);
  },

  /** Returns what can be acted on and shows; with `how.whole` what shows once the window is as large as the page. */
  marks(how) {
    lookAround();
    elements.lend(how);
    const { marks, more } = marksOf(usablePart(), elements, how.most, how.whole ? null : windowBox());
    return { marks, more, next: elements.next, unsure: closed.unsure.length, width: innerWidth, height: innerHeight, left: scrollX, top: scrollY };
  },

  /** Returns the part that shows of each of some boxes inside of a frame element, in the window's coordinates. */
  marksThrough(frame, how, boxes) {
    if (drawn(frame) !== VISIBLE) return boxes.map(() => null);
    return boxes.map(([left, top, width, height]) => {
      const box = { left, top, right: left + width, bottom: top + height };
      const shown = shownPart(frame, frame, box, how.whole ? null : windowBox());
      return shown && [shown.left, shown.top, shown.right - shown.left, shown.bottom - shown.top];
    });
  },

  /** Returns what the document says of itself. */
  about() {
    const status = performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0;
    return { url: location.href, title: document[its.title].toWellFormed(), status, ratio: devicePixelRatio, width: innerWidth, height: innerHeight };
  },

  /** Resolves when what the page does at once is done. */
  turn() {
    return new Promise(done => setTimeout(() => done(true)));
  },

  /** Resolves to how far the wheel moved what is at a point, once `wheelTurned` was called and it stands still. */
  ride(point, name) {
    return ride(point, name);
  },

  wheelTurned(name) {
    rides.get(name)?.();
    return true;
  },

  /** Returns whether a condition holds now; `null` if what is wanted is no selector. */
  holds(kind, wanted) {
    if (kind === 'selector' && !isSelector(wanted)) return { wrong: true, holds: false };
    return { wrong: false, holds: conditions[kind](wanted) };
  },

  /** Resolves to whether it came to hold, within `patience` milliseconds and before the wait was given up. */
  waitFor(kind, wanted, lease, name) {
    return waitFor(kind, wanted, lease, name);
  },

  giveUp(name) {
    waits.get(name)?.();
    return true;
  },

  /** Returns the element that has the keyboard, in shadow trees and frames of this process too; `null` if none has. */
  focused() {
    let at = focusedElement();
    for (;;) {
      const inner = focusedIn(at);
      if (!inner) return at === null || at === document[its.body] || at === document[its.documentElement] ? null : at;
      at = inner;
    }
  },

  /** Returns an element's role and name. */
  describe(element) {
    lookAround();
    const role = roleOf(element);
    return { role, name: nameOf(element, role) };
  },
};
