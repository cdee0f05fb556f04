// What every function of ours knows of elements. A form has its fields as properties, under any
// name, and a document its images: so nothing is asked of an object itself.
const reader = (type, key) => {
  const { get } = Object.getOwnPropertyDescriptor(type.prototype, key);
  return it => get.call(it);
};
const parentOf = reader(Node, 'parentNode');
const connected = reader(Node, 'isConnected');
const documentOf = reader(Node, 'ownerDocument');
const slotOf = reader(Element, 'assignedSlot');
const tagOf = it => reader(Element, 'localName')(it);
const rootOf = it => Node.prototype.getRootNode.call(it);
const attribute = (it, name) => Element.prototype.getAttribute.call(it, name);
const matches = (it, css) => Element.prototype.matches.call(it, css);
const boxOf = it => Element.prototype.getBoundingClientRect.call(it);
const isHere = it => connected(it) && documentOf(it) === document;

// The parent as it is laid out: slots and shadow hosts included.
const above = it => {
  const slot = it instanceof Element && slotOf(it);
  if (slot) return slot;
  const parent = parentOf(it);
  return parent instanceof ShadowRoot ? parent.host : parent;
};
const chain = function* (it) { for (; it; it = above(it)) if (it instanceof Element) yield it };
const contains = (outer, inner) => {
  for (const it of chain(inner)) if (it === outer) return true;
  // What is slotted into a closed shadow tree has no slot to be seen from outside.
  const slots = [...Element.prototype.querySelectorAll.call(outer, 'slot')];
  if (outer instanceof HTMLSlotElement) slots.push(outer);
  return slots.some(slot => slot.assignedNodes({ flatten: true }).some(node => node.contains(inner)));
};

// An element in words, short and without what a user typed.
const words = it => {
  const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
  let said = tagOf(it);
  const id = attribute(it, 'id');
  if (id) said += '#' + cut(id, 40);
  const kind = tagOf(it) === 'input' && attribute(it, 'type');
  if (kind) said += `[type=${cut(kind, 20)}]`;
  const field = matches(it, 'input,textarea,select,[contenteditable]');
  const text = attribute(it, 'aria-label') || (field || matches(it, 'html,body') ? '' : reader(Node, 'textContent')(it).slice(0, 500));
  const name = text.replace(/\s+/g, ' ').trim();
  return name ? `${said} ${JSON.stringify(cut(name, 40))}` : said;
};

const stateOf = it => {
  const said = { connected: isHere(it), focused: false };
  const root = rootOf(it);
  const focus = root instanceof ShadowRoot ? root.activeElement : reader(Document, 'activeElement')(document);
  said.focused = !!focus && contains(it, focus);
  const aria = name => { const value = attribute(it, 'aria-' + name); if (value) said[name] = value };
  aria('checked'); aria('expanded'); aria('pressed'); aria('selected');
  const kind = it instanceof HTMLInputElement && it.type;
  if (kind === 'checkbox' || kind === 'radio') said.checked = it.indeterminate ? 'mixed' : String(it.checked);
  if (it instanceof HTMLOptionElement) said.selected = String(it.selected);
  const details = tagOf(it) === 'summary' ? parentOf(it) : it;
  if (details instanceof HTMLDetailsElement) said.expanded = String(details.open);
  return said;
};
const pause = ms => new Promise(done => setTimeout(done, ms));

// The innermost element at a point, as seen from where `it` is.
const elementAt = (it, { x, y }) => {
  const root = rootOf(it);
  const type = root instanceof ShadowRoot ? ShadowRoot : Document;
  return type.prototype.elementFromPoint.call(root, x, y);
};
const ACTIVE = 'a[href],button,input,select,textarea,summary';
// The field that a click here is passed on to by its label.
const labelled = hit => {
  for (const up of chain(hit)) {
    if (up instanceof HTMLLabelElement) return up.control;
    if (matches(up, ACTIVE)) return null;
  }
  return null;
};
const takes = (it, hit) => contains(it, hit)
  || labelled(hit) === it
  || (labelled(it) === hit && hit !== null)
  || (it instanceof HTMLOptionElement && contains(hit, it) && hit instanceof HTMLSelectElement);
// Says whether it was drawn: what is out of sight has no animation frames, and a busy machine draws late.
const frameOver = () => new Promise(done => {
  const late = setTimeout(() => done(false), 100);
  requestAnimationFrame(() => { clearTimeout(late); done(true) });
});
const isStill = async (it, until) => {
  const look = () => { const { x, y, width, height } = boxOf(it); return [x, y, width, height].join() };
  if (document.visibilityState !== 'visible') return true;
  await frameOver();
  for (let before = look(), undrawn = 0; ; ) {
    const drawn = await frameOver(), now = look();
    // Between two frames everything is still.
    if (now === before && (drawn || ++undrawn === 5)) return true;
    if (performance.now() > until) return false;
    before = now;
  }
};
// Scrolls what is around an element, in its own document only: what scrolls other documents
// (`scrollIntoView`) does so at some later time. `point` gives what is to be seen, as it is now;
// `always`: to the middle even if it is in view.
const reveal = (it, point, always) => {
  const beyond = ({ x, y }, left, top, width, height) =>
    always || x < left || x >= left + width || y < top || y >= top + height;
  const middle = ({ x, y }, left, top, width, height) => ({ left: x - left - width / 2, top: y - top - height / 2, behavior: 'instant' });
  for (const up of chain(it)) {
    const style = getComputedStyle(up), box = boxOf(up), edges = [box.left, box.top, box.width, box.height];
    const scrolls = up !== it && up !== document.scrollingElement && style.overflow !== 'visible';
    if (scrolls && beyond(point(), ...edges)) Element.prototype.scrollBy.call(up, middle(point(), ...edges));
    if (style.position === 'fixed') return;
  }
  const edges = [0, 0, innerWidth, innerHeight];
  if (beyond(point(), ...edges)) scrollBy(middle(point(), ...edges));
};
