// What kind of field an element is, what it holds, and what became of text that was entered.
const LINES = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];
const VALUES = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
const isEditable = it => it instanceof HTMLElement && reader(HTMLElement, 'isContentEditable')(it);
const fieldOf = it => {
  if (it instanceof HTMLLabelElement && it.control) return fieldOf(it.control);
  if (it instanceof HTMLTextAreaElement) return { el: it, kind: 'textarea' };
  if (it instanceof HTMLSelectElement) return { el: it, kind: 'select' };
  if (it instanceof HTMLInputElement) {
    const type = it.type;
    const kind = LINES.includes(type) ? 'line' : VALUES.includes(type) ? 'value' : type;
    return { el: it, kind: ['line', 'value', 'checkbox', 'radio', 'file'].includes(kind) ? kind : 'button' };
  }
  if (isEditable(it)) {
    let host = it;
    for (let up = parentOf(host); isEditable(up); up = parentOf(up)) host = up;
    return { el: host, kind: 'editable' };
  }
  const role = attribute(it, 'role');
  const checkable = ['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio'].includes(role);
  return { el: it, kind: checkable ? 'aria_' + (role.endsWith('radio') ? 'radio' : 'checkbox') : 'other' };
};
const isOff = el => {
  if (matches(el, 'button,input,select,textarea') && matches(el, ':disabled')) return 'it is disabled';
  for (const up of chain(el)) if (up instanceof HTMLElement && reader(HTMLElement, 'inert')(up)) return 'it is inert';
  return null;
};
const isSecret = el => el instanceof HTMLInputElement && el.type === 'password';
const textIn = ({ el, kind }) => kind === 'editable' ? reader(HTMLElement, 'innerText')(el).replace(/\u00a0/g, ' ').replace(/\n$/, '') : el.value;
const activeIn = root => {
  return reader(root instanceof ShadowRoot ? ShadowRoot : Document, 'activeElement')(root);
};
// The innermost element with the focus.
const activeOf = () => {
  let found = activeIn(document);
  for (let root; found && (root = found.shadowRoot) instanceof ShadowRoot; ) {
    const inner = activeIn(root);
    if (!inner) break;
    found = inner;
  }
  return found;
};
const hasFocus = el => { const found = activeIn(rootOf(el)); return !!found && contains(el, found) };
// By then the page has done what it does at the next frame, too.
const nextFrame = async () => { await frameOver(); await pause(0) };

const probe = it => {
  if (!isHere(it)) return { verdict: 'detached' };
  const { el, kind } = fieldOf(it);
  const off = isOff(el);
  return {
    verdict: 'field', kind, words: words(el), off: off || undefined,
    readOnly: !!el.readOnly && ['line', 'value', 'textarea'].includes(kind),
    type: el instanceof HTMLInputElement ? el.type : '',
    checked: stateOf(el).checked, multiple: !!el.multiple, focused: hasFocus(el),
  };
};

// What such a field would make of a text, asked of another one.
const wouldHold = (it, { text }) => {
  const { el } = fieldOf(it);
  const other = Document.prototype.createElement.call(document, 'input');
  for (const name of ['type', 'min', 'max', 'step']) {
    const own = attribute(el, name);
    if (own !== null) other.setAttribute(name, own);
  }
  other.value = text;
  return other.value;
};

const caretToEnd = ({ el, kind }) => {
  if (kind === 'editable') {
    const selection = getSelection();
    selection.selectAllChildren(el);
    selection.collapseToEnd();
    return;
  }
  try { el.setSelectionRange(el.value.length, el.value.length) } catch {
    // Kinds without a caret of their own (email, number) have the document's.
    getSelection().modify('move', 'forward', 'documentboundary');
  }
};

const focusOn = async ({ el }) => {
  const had = hasFocus(el);
  if (!had) {
    HTMLElement.prototype.focus.call(el, { preventScroll: true });
    // Handlers of the page may move the caret or the focus a moment later.
    await nextFrame();
  }
  if (!isHere(el)) return { verdict: 'detached' };
  if (hasFocus(el)) return { verdict: 'here', had };
  const active = activeOf();
  return { verdict: 'elsewhere', by: active ? words(active) : 'nothing' };
};
const isFocused = it => hasFocus(fieldOf(it).el);
const isFrame = it => ['iframe', 'frame', 'object', 'embed'].includes(tagOf(it));
const focusField = it => focusOn(fieldOf(it));

// Focus, selection, and a listener of ours that sees who gets the text.
const prepare = async (it, asked) => {
  const field = fieldOf(it), { el, kind } = field;
  const focus = await focusOn(field);
  if (focus.verdict !== 'here') return focus;
  const before = textIn(field);
  let expected = before + asked.text;
  if (asked.replace) {
    if (kind === 'editable') getSelection().selectAllChildren(el); else el.select();
    expected = asked.text;
  } else if (!focus.had || (kind === 'line' && el.selectionStart === null)) {
    caretToEnd(field);
  } else if (kind === 'editable') {
    expected = null;
  } else if (kind !== 'value') {
    expected = before.slice(0, el.selectionStart) + asked.text + before.slice(el.selectionEnd);
  }
  globalThis.tabvisorTyping?.end();
  const others = new Set();
  const listen = event => {
    const [got] = event.composedPath();
    // A page that copies what is typed says so by events of its own.
    if (event.isTrusted && got instanceof Element && !contains(el, got) && !contains(got, el)) others.add(got);
  };
  addEventListener('input', listen, true);
  setTimeout(() => removeEventListener('input', listen, true), asked.left);
  globalThis.tabvisorTyping = { field, before, expected, text: asked.text, others, end: () => removeEventListener('input', listen, true) };
  return { verdict: 'here', empty: before === '' };
};

const command = (name, value) => Document.prototype.execCommand.call(document, name, false, value);
// As a framework's own tests do it: the native setter, which a page that watches its field's
// property does not notice, then the events that make it look.
const setValue = it => {
  const { field: { el, kind }, text, expected } = globalThis.tabvisorTyping;
  if (kind === 'editable') {
    getSelection().selectAllChildren(el);
    const lines = text.split('\n');
    command('delete');
    lines.forEach((line, at) => {
      if (at) command('insertParagraph');
      if (line) command('insertText', line);
    });
    return;
  }
  el.value = expected;
  el.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data: text }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
};
const newParagraph = () => command('insertParagraph');

const loose = (text, kind) => kind === 'editable' ? text.replace(/\n+/g, '\n').replace(/^\n|\n$/g, '') : text;
const fits = (value, { field: { kind }, before, expected, text }) => {
  if (expected !== null) return loose(value, kind) === loose(expected, kind);
  return loose(value, kind).includes(loose(text, kind)) && value.length > before.length;
};
// How many characters of the text are in the value, in their order.
const arrived = (value, { before, text }) => {
  const there = [...(value.startsWith(before) && value !== before ? value.slice(before.length) : value).toLowerCase()];
  let at = 0, count = 0;
  for (const wanted of text.toLowerCase()) {
    const next = there.indexOf(wanted, at);
    if (next < 0) break;
    [at, count] = [next + 1, count + 1];
  }
  return count;
};
const SHOWN = 2000;
const readBack = async (it, { most }) => {
  const typing = globalThis.tabvisorTyping, { field, before, expected, text } = typing;
  await nextFrame();
  const begun = performance.now();
  let value = textIn(field), since = begun;
  for (let now = begun; !fits(value, typing) && now - begun < most; now = performance.now()) {
    if (value !== before && now - since > 150) break;
    await pause(20);
    const next = textIn(field);
    if (next !== value) [value, since] = [next, performance.now()];
  }
  typing.end();
  typing.value = value;
  const count = arrived(value, typing);
  const all = count === [...text].length;
  const [other] = typing.others;
  // A field that holds only so much may hold the same as before.
  const cut = expected === text && value !== '' && text.startsWith(value);
  const said = {
    verdict: !isHere(field.el) ? 'gone' : fits(value, typing) ? 'equal' : value === before && !cut ? 'unchanged' : all ? 'rewritten' : 'different',
    arrived: count, elsewhere: other && words(other), focused: hasFocus(field.el),
  };
  if (isSecret(field.el)) return said;
  const shown = [...value.slice(0, 2 * SHOWN)].slice(0, SHOWN).join('');
  return { ...said, value: shown.toWellFormed(), valueChars: shown === value ? undefined : [...value].length };
};
const afterEnter = async it => {
  const { field, value } = globalThis.tabvisorTyping;
  const look = () => {
    if (!isHere(field.el)) return 'replaced';
    const now = textIn(field);
    return now === value ? 'unchanged' : now === '' ? 'cleared' : 'changed';
  };
  await nextFrame();
  for (let left = 5; left && look() === 'unchanged'; left--) await pause(20);
  return look();
};
const checkedIs = async (it, { wanted }) => {
  const { el } = fieldOf(it), begun = performance.now();
  await nextFrame();
  while (isHere(el) && stateOf(el).checked !== wanted && performance.now() - begun < 500) await pause(20);
  return stateOf(el);
};
