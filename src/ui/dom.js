// Elements. What comes from pages is set as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element with attributes; a function as `onclick` and the like listens. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of a drawing. */
export function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else attribute(element, name, value);
  }
  element.append(...children);
  return element;
}

/** Sets an attribute where it is another one; `null` and `false` take it away. */
export function attribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? '' : value);
}

/** Sets the text where it is another one: what is the same is not read out again. */
export function text(element, value) {
  const now = String(value ?? '');
  if (element.textContent !== now) element.textContent = now;
}

/** Shows or hides. */
export function shown(element, is) {
  if (element.hidden === is) element.hidden = !is;
}

/** Keeps the children of `parent` those of `items`, by key: an element stays the same as long as its item does. */
export function keyed(parent, items, key, create, update) {
  const known = parent.known ??= new Map();
  const now = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    now.add(name);
    let element = known.get(name);
    if (!element) known.set(name, element = create(item));
    update(element, item);
    // Moving an element would take the focus from it.
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const [name, element] of known) {
    if (now.has(name)) continue;
    known.delete(name);
    const focused = element.contains(document.activeElement);
    const next = element.nextElementSibling ?? element.previousElementSibling;
    element.remove();
    if (focused) (next?.querySelector('button') ?? document.getElementById('tabs'))?.focus();
  }
}

/** `87 ms`, `4.2 s`, `12 min`. */
export function duration(ms) {
  if (ms < 1) return `${(ms).toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** `1 tab`, `2 tabs`. */
export const counted = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Says something to those who do not see the page; the newest for a moment to all. */
export function say(what, bad = false) {
  const said = document.getElementById('said');
  said.textContent = what;
  said.dataset.is = bad ? 'bad' : 'good';
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { said.textContent = ''; }, bad ? 12_000 : 6_000);
}
