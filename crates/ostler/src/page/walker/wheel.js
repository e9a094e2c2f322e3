// What the mouse wheel moves: followed from before it turns until it stands still again.
//
// Positions are compared drawing by drawing, since a page can keep every event from us: whoever listens first on its
// window may stop them all.

/** How many drawings without a move are a rest: after one, and where nothing has moved since the wheel was turned. */
const AT_REST = 6, AT_THE_END = 3;
/** In milliseconds. A hidden tab takes its time: it may draw no more than once a second. */
const LONGEST_RIDE = 8000;

/** The rides under way, each by its name: what tells it that its wheel was turned. */
const rides = new Map();

/** Resolves to how far what scrolls at a point went, once its wheel was turned and it has come to rest. */
function ride(point, name) {
  const page = document[its.scrollingElement] ?? document[its.documentElement];
  // A document whose script took its element out has nothing that scrolls.
  if (!page) return { moved_x: 0, moved_y: 0, above: 0, below: 0 };
  const boxes = [...new Set([scrollerAt(point) ?? page, page])];
  const places = () => boxes.map(box => [box[its.scrollLeft], box[its.scrollTop]]);
  const from = places();
  const differs = (some, others) => some.some(([x, y], at) => x !== others[at][0] || y !== others[at][1]);
  return new Promise(done => {
    let last = from, still = 0, turned = false, over = false;
    const finish = () => {
      if (over) return;
      over = true;
      rides.delete(name);
      clearTimeout(late);
      removeEventListener('scrollend', rested, true);
      done(rode(boxes, from, places()));
    };
    const look = () => {
      if (over) return;
      const now = places();
      still = differs(now, last) ? 0 : still + 1;
      last = now;
      if (turned && still >= (differs(now, from) ? AT_REST : AT_THE_END)) finish();
      else requestAnimationFrame(look);
    };
    // Told by the browser, where the page lets it through: no need to wait for the drawings behind it.
    const rested = () => { if (turned && differs(places(), from)) finish(); };
    const late = setTimeout(finish, LONGEST_RIDE);
    addEventListener('scrollend', rested, true);
    rides.set(name, () => { turned = true; still = 0; });
    requestAnimationFrame(look);
  });
}

/** Returns what came of it, of the innermost box that moved. */
function rode(boxes, from, to) {
  const moved = Math.max(boxes.findIndex((_, at) => from[at][0] !== to[at][0] || from[at][1] !== to[at][1]), 0);
  const [box, [x, y], [left, top]] = [boxes[moved], from[moved], to[moved]];
  return {
    moved_x: Math.round(left - x),
    moved_y: Math.round(top - y),
    above: Math.round(top),
    below: Math.max(0, Math.round(box[its.scrollHeight] - box[its.clientHeight] - top)),
  };
}

/** Returns the innermost element at a point that scrolls by itself; `null` if only the page does. */
function scrollerAt(point) {
  const scrolls = style => side => /auto|scroll|overlay/.test(style[side]);
  for (let at = hitAt(point); at instanceof Element; at = parentOf(at)) {
    if (at === document[its.body] || at === document[its.scrollingElement] || at === document[its.documentElement]) return null;
    const by = scrolls(getComputedStyle(at));
    if (by('overflowY') && at[its.scrollHeight] > at[its.clientHeight]) return at;
    if (by('overflowX') && at[its.scrollWidth] > at[its.clientWidth]) return at;
  }
  return null;
}
