// Closed shadow trees: a script cannot see that an element has one, but the browser says so when it is asked of that
// element, and hands the tree out. So elements that may have one are gathered while a page is read, and the reader asks.

/** How many elements are asked about after one walk; the reader walks again where that many were noted. */
const MOST_UNSURE = 1000;
/** Elements without a hyphen in their names that may have a shadow tree. */
const PLAIN_HOSTS = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);

const closed = { trees: new WeakMap(), asked: new WeakSet(), unsure: [] };

/** Returns an element's shadow tree, a closed one too once it is known. */
function shadowOf(element) {
  return element[its.shadowRoot] ?? closed.trees.get(element) ?? null;
}

/** Notes an element that is drawn if a closed tree in it would explain what it shows. */
function noteHost(element) {
  if (closed.asked.has(element) || closed.unsure.length >= MOST_UNSURE || shadowOf(element)) return;
  if (mayBeHost(element)) closed.unsure.push(element);
}

function mayBeHost(element) {
  const name = element[its.localName];
  // A custom element that is not defined yet has had no script that could attach one.
  if (name.includes('-')) return element[its.matches](':defined');
  // Of a plain one that has something of its own inside there is no sign.
  if (!PLAIN_HOSTS.has(name) || element[its.firstElementChild] !== null || !BLANK.test(element[its.textContent])) return false;
  return [...element[its.getClientRects]()].some(box => box.width >= 1 && box.height >= 1);
}

/** Takes in what the browser said of the elements that were noted: the closed trees that some of them have. */
function adopt(trees) {
  for (const element of closed.unsure) closed.asked.add(element);
  closed.unsure = [];
  for (const tree of trees) closed.trees.set(tree.host, tree);
  return trees.length;
}
