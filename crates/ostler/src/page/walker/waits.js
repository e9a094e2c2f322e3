// Conditions that somebody waits for: looked at now, and again when something happened.

const squeeze = text => text.replace(/\s+/g, ' ').toLowerCase();

const conditions = {
  load: () => document[its.readyState] === 'complete',
  text: wanted => roots().some(root => squeeze(textOf(root)).includes(squeeze(wanted))),
  selector: wanted => roots().some(root => [...root[its.querySelectorAll](wanted)].some(shows)),
};

/** Returns the document and all shadow roots in it. */
function roots() {
  const found = [document];
  for (const root of found) {
    for (const element of root[its.querySelectorAll]('*')) {
      const inner = shadowOf(element);
      if (inner) found.push(inner);
    }
  }
  return found;
}

function shows(element) {
  return element[its.checkVisibility]({ visibilityProperty: true, contentVisibilityAuto: true }) && element[its.getClientRects]().length > 0;
}

function textOf(root) {
  const parts = root === document ? [wholePage()] : [...root[its.children]];
  return parts.map(element => element?.[its.innerText] ?? '').join('\n');
}

/** Returns whether a text is a selector that the browser knows. */
function isSelector(text) {
  try {
    document[its.createDocumentFragment]()[its.querySelector](text);
    return true;
  } catch {
    return false;
  }
}

/** The waits under way, each by its name: what ends it without an answer. */
const waits = new Map();

/** What changes without a mutation: styles that arrive or end their transition, and what a person would trigger. */
const OCCASIONS = ['load', 'readystatechange', 'transitionend', 'animationend', 'toggle', 'input', 'resize', 'focusin'];
/** In milliseconds: how often a page is looked at that changes all the time, and one that tells nothing. */
const AT_MOST_EVERY = 100, UNTOLD = 500;

/**
 * Resolves to true once a condition holds in this document, to false when the wait is given up, and to null when it was
 * looked at for so many milliseconds: whoever still waits asks again.
 */
function waitFor(kind, wanted, lease, name) {
  // A wait of the same name is the same one, asked again.
  waits.get(name)?.();
  return new Promise(done => {
    let due = 0;
    const look = () => {
      due = 0;
      if (conditions[kind](wanted)) over(true);
      else watch();
    };
    const later = () => { due ||= setTimeout(look, AT_MOST_EVERY); };
    const observer = new MutationObserver(later);
    const watched = new WeakSet();
    const watch = () => {
      if (kind === 'load') return;
      for (const root of roots()) {
        if (watched.has(root)) continue;
        watched.add(root);
        observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
      }
    };
    const late = setTimeout(() => over(null), lease);
    // That a shadow root was attached is told by nothing, and a page may keep every event from us.
    const unseen = setInterval(later, UNTOLD);
    const over = value => {
      observer.disconnect();
      for (const occasion of OCCASIONS) removeEventListener(occasion, later, true);
      clearTimeout(late);
      clearTimeout(due);
      clearInterval(unseen);
      waits.delete(name);
      done(value);
    };
    for (const occasion of OCCASIONS) addEventListener(occasion, later, true);
    waits.set(name, () => over(false));
    look();
  });
}
