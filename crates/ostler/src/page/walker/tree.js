// The page as it is drawn: slots filled, shadow trees opened, hidden parts known.

const HTML = 'http://www.w3.org/1999/xhtml';
const SHOWN = { visibilityProperty: true };

/** Returns an element's tag in lower case; those of SVG and MathML get a prefix, as `svg:a`. */
function tagOf(element) {
  const name = element.localName;
  if (element.namespaceURI === HTML) return name;
  return element.namespaceURI === 'http://www.w3.org/2000/svg' ? 'svg:' + name : 'math:' + name;
}

/** What holds for one call: the page may have changed by the next. */
const page = { owners: [], labels: new Map(), pseudo: null };

/** Looks at what has to be looked at once for a call. */
function lookAround() {
  page.owners = [...document.querySelectorAll('[aria-owns]')];
  page.labels.clear();
  page.pseudo = null;
}

/** Returns the nodes that are drawn inside of an element, what it owns by `aria-owns` last. */
function childrenOf(element) {
  // The text of a closed one has no element of its own that would be hidden.
  if (element.localName === 'details' && !element.open) return element.querySelectorAll(':scope > summary:first-of-type');
  const children = [];
  const assigned = element.localName === 'slot' ? element.assignedNodes() : [];
  if (assigned.length) children.push(...assigned);
  else for (let node = (element.shadowRoot ?? element).firstChild; node; node = node.nextSibling) children.push(node);
  if (page.owners.length && page.owners.includes(element)) children.push(...referenced(element, element.getAttribute('aria-owns')));
  return children;
}

/**
 * Returns the labels of a control. `element.labels` would search the whole document for each control: 4 s for a page
 * with 5,000 buttons.
 */
function labelsOf(element) {
  const root = element.getRootNode();
  let known = page.labels.get(root);
  if (!known) {
    known = new Map();
    for (const label of root.querySelectorAll?.('label') ?? []) {
      const control = label.control;
      if (control) known.set(control, [...known.get(control) ?? [], label]);
    }
    page.labels.set(root, known);
  }
  return known.get(element) ?? [];
}

/** Returns the node that a node is drawn in; `null` at the document. */
function parentOf(node) {
  if (node.assignedSlot) return node.assignedSlot;
  const parent = node.parentNode;
  return parent instanceof ShadowRoot ? parent.host : parent instanceof Document ? null : parent;
}

/** Returns whether `outer` is `node` or holds it, through slots and shadow trees. */
function holds(outer, node) {
  for (let at = node; at; at = parentOf(at)) if (at === outer) return true;
  return false;
}

/** Returns the elements that an attribute names by their ids. */
function referenced(element, ids) {
  const scope = element.getRootNode();
  if (!scope.getElementById) return [];
  return ids.split(/\s+/).map(id => id && scope.getElementById(id)).filter(Boolean);
}

/** Returns whether another element owns this one by `aria-owns`, and shows it in its own place. */
function isOwned(element) {
  if (!page.owners.length || !element.id) return false;
  return page.owners.some(owner => referenced(owner, owner.getAttribute('aria-owns')).includes(element));
}

const VISIBLE = 0, UNSEEN = 1, GONE = 2;

/** Returns whether an element is drawn, only takes room (its children may be drawn), or is not there at all. */
function drawn(element) {
  if (element.checkVisibility(SHOWN)) return VISIBLE;
  if (element.checkVisibility()) return UNSEEN;
  // An element without a box of its own, whose children have theirs.
  if (getComputedStyle(element).display === 'contents') return VISIBLE;
  return isInImageMap(element) || isInCanvas(element) ? VISIBLE : GONE;
}

/** An area of an image has no box of its own. */
function isInImageMap(element) {
  return element.localName === 'area' && element.closest('map') !== null;
}

/** The fallback content of a canvas is its content for those who do not see it. */
function isInCanvas(element) {
  return element.localName !== 'canvas' && element.closest('canvas') !== null;
}

/** Returns whether an element and all in it are withheld from assistive technology. */
function isWithheld(element) {
  return element.getAttribute('aria-hidden') === 'true' || element.inert === true;
}

/** Returns the element that has the keyboard, in whichever shadow tree. */
function focusedElement() {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active;
}
