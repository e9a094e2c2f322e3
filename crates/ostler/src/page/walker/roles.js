// Which role an element has, in ARIA's words and as Chromium's accessibility tree decides.

const ARIA_ROLES = new Set(`alert alertdialog application article banner blockquote button caption cell checkbox code
columnheader combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed
figure form generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math
menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar
radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid
treeitem doc-backlink doc-biblioref doc-glossref doc-noteref`.split(/\s+/));

/** What a user acts on. */
const INTERACTIVE = new Set(`button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio
scrollbar searchbox slider spinbutton switch tab textbox treeitem doc-backlink doc-biblioref doc-glossref
doc-noteref`.split(/\s+/));

/** Roles that say nothing of their own: what is inside of them is told as if they were not there. */
const TRANSPARENT = new Set(`generic none presentation paragraph rowgroup strong emphasis code mark time subscript
superscript deletion insertion caption term definition label legend figcaption document`.split(/\s+/));

/** Roles whose name is the text inside of them. */
const NAMED_BY_CONTENT = new Set(`button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox
menuitemradio option radio row rowheader switch tab tooltip treeitem doc-backlink doc-biblioref doc-glossref
doc-noteref`.split(/\s+/));

const TAG_ROLES = {
  article: 'article', blockquote: 'blockquote', button: 'button', caption: 'caption', code: 'code', datalist: 'listbox',
  dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog', dl: 'list', dt: 'term',
  em: 'emphasis', fieldset: 'group', figcaption: 'figcaption', figure: 'figure', h1: 'heading', h2: 'heading',
  h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', ins: 'insertion', label: 'label',
  legend: 'legend', li: 'listitem', main: 'main', mark: 'mark', 'math:math': 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript', svg: 'img',
  tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', time: 'time', ul: 'list',
  canvas: 'canvas', video: 'video', audio: 'audio', iframe: 'iframe', frame: 'iframe',
};

const INPUT_ROLES = {
  button: 'button', checkbox: 'checkbox', color: 'button', date: 'textbox', 'datetime-local': 'textbox', file: 'button',
  image: 'button', month: 'textbox', number: 'spinbutton', radio: 'radio', range: 'slider', reset: 'button',
  search: 'searchbox', submit: 'button', time: 'textbox', week: 'textbox',
};

/** Attributes that make even a presentational element speak for itself. */
const GLOBAL_ARIA = ['aria-label', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-live'];

/** Returns the role, in ARIA's words; `generic` for what has none. */
function roleOf(element) {
  const tag = tagOf(element);
  const given = element[its.getAttribute]('role');
  if (given !== null) {
    for (const token of given.toLowerCase().split(/\s+/)) {
      if (!ARIA_ROLES.has(token)) continue;
      if (token === 'none' || token === 'presentation') {
        if (isFocusable(element) || GLOBAL_ARIA.some(name => element[its.hasAttribute](name))) break;
        return 'none';
      }
      if (token === 'option' && !isOptionOfList(element)) return 'generic';
      if ((token === 'region' || token === 'form') && !hasGivenName(element)) break;
      return token === 'image' ? 'img' : token === 'directory' ? 'list' : token;
    }
  }
  return ownRole(element, tag);
}

function ownRole(element, tag) {
  switch (tag) {
    case 'a': return element[its.hasAttribute]('href') ? 'link' : 'generic';
    case 'svg:a': return element[its.hasAttribute]('href') || element[its.hasAttribute]('xlink:href') ? 'link' : 'generic';
    case 'area': return element[its.hasAttribute]('href') ? 'link' : 'generic';
    case 'input': return inputRole(element);
    case 'select': return element.size > 1 || (element.multiple && !element[its.hasAttribute]('size')) ? 'listbox' : 'combobox';
    case 'img': return element[its.getAttribute]('alt') === '' && !hasGivenName(element) ? 'none' : 'img';
    case 'svg:svg': return svgRole(element);
    case 'svg:image': return 'img';
    case 'summary': return isSummary(element) ? 'button' : 'generic';
    case 'table': return isDataTable(element) ? 'table' : 'none';
    case 'tr': return tableRole(element, 'row');
    case 'td': return tableRole(element, 'cell');
    case 'th': return tableRole(element, element.scope === 'row' || element.scope === 'rowgroup' || isRowHeader(element) ? 'rowheader' : 'columnheader');
    case 'header': return isOfPage(element) ? 'banner' : 'generic';
    case 'footer': return isOfPage(element) ? 'contentinfo' : 'generic';
    case 'aside': return isOfPage(element) || hasGivenName(element) ? 'complementary' : 'generic';
    case 'section': return hasGivenName(element) ? 'region' : 'generic';
    case 'form': return hasGivenName(element) ? 'form' : 'generic';
    case 'embed': case 'object': return 'embedded';
    case 'li': return listItemRole(element);
    case 'option': return 'option';
    default: return TAG_ROLES[tag] ?? 'generic';
  }
}

function inputRole(input) {
  const type = input.type;
  if (type === 'checkbox' && input.switch === true) return 'switch';
  if (input.list && ['text', 'search', 'email', 'tel', 'url'].includes(type)) return 'combobox';
  return type === 'hidden' ? 'none' : INPUT_ROLES[type] ?? 'textbox';
}

/** A list that is made presentational takes its items along. */
function listItemRole(item) {
  const list = parentOf(item);
  if (!(list instanceof Element) || !['ul', 'ol', 'menu'].includes(list[its.localName])) return 'generic';
  const role = list[its.getAttribute]('role');
  return role === null || role === 'list' ? 'listitem' : role === 'none' || role === 'presentation' ? 'none' : 'generic';
}

function svgRole(svg) {
  if (hasGivenName(svg) || svg[its.querySelector](':scope > title, :scope > desc')) return 'img';
  return svg[its.querySelector]('a, text, foreignObject, [role]') ? 'generic' : 'img';
}

function isSummary(summary) {
  const parent = summary[its.parentElement];
  return parent?.[its.localName] === 'details' && parent[its.querySelector](':scope > summary') === summary;
}

function isRowHeader(cell) {
  if (cell.scope) return false;
  const row = cell[its.parentElement];
  return row !== null && [...row[its.children]].some(other => other[its.localName] === 'td') && cell === row[its.firstElementChild]
    && row[its.parentElement]?.[its.localName] !== 'thead' && row[its.previousElementSibling] !== null;
}

function tableRole(part, role) {
  const table = part[its.closest]('table');
  const given = table?.[its.getAttribute]('role');
  if (given === 'grid' || given === 'treegrid') return role === 'cell' ? 'gridcell' : role;
  if (table && given !== 'table') return given || !isDataTable(table) ? 'none' : role;
  return role;
}

const dataTables = new WeakMap();

/** Returns whether a table holds data; many old ones only place things on the page. */
function isDataTable(table) {
  let known = dataTables.get(table);
  if (known === undefined) {
    known = hasGivenName(table) || table.summary !== '' || table.caption !== null || table.tHead !== null
      || table.tFoot !== null || table.rows.length >= 20
      || table[its.querySelector]('th, [scope], [headers], [abbr], colgroup') !== null;
    dataTables.set(table, known);
  }
  return known;
}

function isOfPage(element) {
  return element[its.parentElement]?.[its.closest]('article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]') == null;
}

/** An option means something only inside of a list of options; groups may stand between. */
function isOptionOfList(element) {
  for (let at = parentOf(element); at instanceof Element; at = parentOf(at)) {
    const role = at[its.getAttribute]('role') ?? 'generic';
    if (role === 'listbox' || role === 'combobox' || at[its.localName] === 'select') return true;
    if (role !== 'generic' && role !== 'group' && role !== 'none' && role !== 'presentation') return false;
  }
  return false;
}

function hasGivenName(element) {
  return hasText(element[its.getAttribute]('aria-label')) || element[its.hasAttribute]('aria-labelledby') || hasText(element[its.getAttribute]('title'));
}

function hasText(value) {
  return value !== null && value.trim() !== '';
}

function isFocusable(element) {
  return element[its.tabIndex] >= 0 || element[its.hasAttribute]('tabindex');
}
