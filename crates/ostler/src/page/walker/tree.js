// The page as it is drawn: slots filled, shadow trees opened, hidden parts known.

const HTML = 'http://www.w3.org/1999/xhtml';
const SHOWN = { visibilityProperty: true };

/**
 * What the browser itself says of nodes, under names that are ours: `node[its.parentNode]`. A form, and a document too,
 * lets what is in it stand in the place of its own properties, in every world: of a form with `<input name=parentNode>`
 * the `parentNode` is that input. Symbols are not looked up there.
 */
const its = {};
for (const { prototype } of [Node, Element, HTMLElement, SVGElement, MathMLElement, Text, DocumentFragment, ShadowRoot, Document]) {
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name.startsWith('on')) continue;
    its[name] ??= Symbol.for('ostler ' + name);
    Object.defineProperty(prototype, its[name], { ...property, configurable: true });
  }
}

/** Returns an element's tag in lower case; those of SVG and MathML get a prefix, as `svg:a`. */
function tagOf(element) {
  const name = element[its.localName];
  if (element[its.namespaceURI] === HTML) return name;
  return element[its.namespaceURI] === 'http://www.w3.org/2000/svg' ? 'svg:' + name : 'math:' + name;
}

/** What holds for one call: the page may have changed by the next. */
const page = { owned: new Map(), ownerOf: new Map(), labels: new Map(), pseudo: null };

/** Looks at what has to be looked at once for a call. */
function lookAround() {
  page.owned.clear();
  page.ownerOf.clear();
  for (const owner of document[its.querySelectorAll]('[aria-owns]')) {
    if (drawn(owner) === GONE || !showsContent(owner)) continue;
    for (const element of referenced(owner, owner[its.getAttribute]('aria-owns'))) own(owner, element);
  }
  naming.byLabels = false;
  page.labels.clear();
  page.pseudo = null;
}

/** Returns whether what is inside of an element is told: a field's text or an image has nothing inside. */
function showsContent(element) {
  const role = roleOf(element);
  return !LEAVES.has(role) && role !== 'textbox' && role !== 'iframe' && !['input', 'textarea', 'select'].includes(element[its.localName]);
}

/** Moves an element to its owner by `aria-owns`, to the first that claims it and is not inside of it by then. */
function own(owner, element) {
  if (page.ownerOf.has(element)) return;
  for (let at = owner; at; at = tellerOf(at)) if (at === element) return;
  page.ownerOf.set(element, owner);
  page.owned.set(owner, [...page.owned.get(owner) ?? [], element]);
}

/** Returns the nodes that are told inside of an element: without what another one owns by `aria-owns`, what it owns last. */
function childrenOf(element) {
  // The text of a closed one has no element of its own that would be hidden.
  if (element[its.localName] === 'details' && !element.open) return element[its.querySelectorAll](':scope > summary:first-of-type');
  const children = [];
  const assigned = element[its.localName] === 'slot' ? element.assignedNodes() : [];
  if (assigned.length) children.push(...assigned);
  else for (let node = (shadowOf(element) ?? element)[its.firstChild]; node; node = node[its.nextSibling]) children.push(node);
  if (!page.ownerOf.size) return children;
  return [...children.filter(node => !page.ownerOf.has(node)), ...page.owned.get(element) ?? []];
}

/**
 * Returns the labels of a control. `element.labels` would search the whole document for each control: a second for a
 * page with 5,000 buttons (fact F26).
 */
function labelsOf(element) {
  const root = element[its.getRootNode]();
  let known = page.labels.get(root);
  if (!known) {
    known = new Map();
    for (const label of root[its.querySelectorAll]?.('label') ?? []) {
      const control = label.control;
      if (control) known.set(control, [...known.get(control) ?? [], label]);
    }
    page.labels.set(root, known);
  }
  return known.get(element) ?? [];
}

/** Returns the node that a node is drawn in; `null` at the document. */
function parentOf(node) {
  if (node[its.assignedSlot]) return node[its.assignedSlot];
  const parent = node[its.parentNode];
  return parent instanceof ShadowRoot ? parent.host : parent instanceof Document ? null : parent;
}

/** Returns the node inside of which a node is told: the one that owns it, or that it is drawn in. */
function tellerOf(node) {
  return page.ownerOf.get(node) ?? parentOf(node);
}

/** Returns whether `outer` is `node` or holds it, through slots and shadow trees. */
function holds(outer, node) {
  for (let at = node; at; at = parentOf(at)) if (at === outer) return true;
  return false;
}

/** Returns the elements that an attribute names by their ids. */
function referenced(element, ids) {
  const scope = element[its.getRootNode]();
  if (!scope[its.getElementById]) return [];
  return ids.split(/\s+/).map(id => id && scope[its.getElementById](id)).filter(Boolean);
}

const VISIBLE = 0, UNSEEN = 1, GONE = 2;

/** Returns whether an element is drawn, only takes room (its children may be drawn), or is not there at all. */
function drawn(element) {
  if (element[its.checkVisibility](SHOWN)) return VISIBLE;
  if (element[its.checkVisibility]()) return UNSEEN;
  // An element without a box of its own, whose children have theirs.
  if (getComputedStyle(element).display === 'contents') return VISIBLE;
  return isInImageMap(element) || isInCanvas(element) ? VISIBLE : GONE;
}

/** An area of an image has no box of its own. */
function isInImageMap(element) {
  return element[its.localName] === 'area' && element[its.closest]('map') !== null;
}

/** The fallback content of a canvas is its content for those who do not see it. */
function isInCanvas(element) {
  return element[its.localName] !== 'canvas' && element[its.closest]('canvas') !== null;
}

/** Returns whether an element and all in it are withheld from assistive technology. */
function isWithheld(element) {
  return element[its.getAttribute]('aria-hidden') === 'true' || element[its.inert] === true;
}

/** Returns the element that has the keyboard, in whichever shadow tree. */
function focusedElement() {
  let active = document[its.activeElement];
  while (active && shadowOf(active)?.[its.activeElement]) active = shadowOf(active)[its.activeElement];
  return active;
}

/**
 * Returns the element that has the keyboard inside of another: in a frame of this process, whose documents are dressed
 * up by no walker, or in a shadow tree there. Read by prototype, since a form's fields may stand in the way (fact F25).
 */
function focusedIn(element) {
  const native = (node, name) => Reflect.get(Object.getPrototypeOf(node), name, node);
  try {
    const inside = native(element, 'contentDocument') ?? native(element, 'shadowRoot');
    return inside ? native(inside, 'activeElement') : null;
  } catch {
    // A frame of another site.
    return null;
  }
}
