// Makes an element ready to be acted on: enabled, seen, in view, still, and not covered.
const CONTROL = 'button,input,select,textarea,option,optgroup';
const disabledBy = it => {
  for (const up of chain(it)) {
    if (matches(up, CONTROL) && matches(up, ':disabled')) {
      return attribute(up, 'disabled') === null ? 'a disabled fieldset' : up === it ? 'disabled' : 'disabled ' + tagOf(up);
    }
    if (up instanceof HTMLElement && reader(HTMLElement, 'inert')(up)) return 'inert';
    if (up instanceof HTMLLabelElement && up.control && matches(up.control, ':disabled')) return 'its field is disabled';
  }
  return null;
};
const softlyDisabled = it => {
  for (const up of chain(it)) if (attribute(up, 'aria-disabled') === 'true') return true;
  return false;
};
// A link that saves what it leads to.
const saves = it => {
  for (const up of chain(it)) if (matches(up, 'a[href]')) return attribute(up, 'download') !== null;
  return false;
};
const sized = box => box.width > 0 && box.height > 0;
// One box for every line; of what has no size of its own, those of its content if they show.
const boxesOf = it => {
  const own = [...Element.prototype.getClientRects.call(it)].filter(sized);
  if (own.length || getComputedStyle(it).overflow !== 'visible') return own;
  const range = new Range();
  range.selectNodeContents(it);
  return [...range.getClientRects()].filter(sized);
};
const isSeen = it => {
  const style = getComputedStyle(it);
  const shown = style.display === 'contents' || Element.prototype.checkVisibility.call(it);
  return shown && style.visibility === 'visible' && boxesOf(it).length > 0;
};
// The middle of every line that is in the viewport, then further points of the first.
const pointsOf = it => {
  const inView = [];
  for (const box of boxesOf(it)) {
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    if (right > left && bottom > top) inView.push({ left, top, width: right - left, height: bottom - top });
    if (inView.length === 20) break;
  }
  const at = (box, x, y) => ({ x: box.left + box.width * x, y: box.top + box.height * y });
  const points = inView.map(box => at(box, 0.5, 0.5));
  if (inView.length) for (const x of [0.2, 0.8]) for (const y of [0.2, 0.8]) points.push(at(inView[0], x, y));
  return points;
};
const center = (it, always) => reveal(it, () => {
  const [box] = boxesOf(it);
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}, always);

const makeReady = async (it, asked) => {
  const begun = performance.now();
  const stillUntil = begun + Math.min(asked.left / 2, 2000);
  const twin = matches(it, 'input[type=checkbox],input[type=radio]') ? [...it.labels] : [];
  let scrolled = false;
  const attempt = async mayScroll => {
    if (!isHere(it)) return { verdict: 'detached' };
    const by = asked.enabled && disabledBy(it);
    if (by) return { verdict: 'disabled', by };
    const said = { verdict: 'ready', words: words(it), softlyDisabled: softlyDisabled(it), saves: saves(it) };
    if (!asked.visible) return said;
    const seen = [it, ...twin].filter(isSeen);
    if (!seen.length) return { verdict: 'not_visible' };
    if (mayScroll || !pointsOf(seen[0]).length) { center(seen[0], mayScroll); scrolled = true }
    if (!asked.hit) {
      const [point] = pointsOf(seen[0]);
      return point ? { ...said, point, scrolled } : { verdict: 'not_visible' };
    }
    if (!await isStill(seen[0], stillUntil)) return { verdict: 'moving' };
    let over = null;
    for (const one of seen) for (const point of isSeen(one) ? pointsOf(one) : []) {
      const hit = elementAt(one, point);
      if (!hit) continue;
      if (takes(it, hit)) return { ...said, point, scrolled, byLabel: one !== it };
      over ||= hit;
    }
    return over ? { verdict: 'covered', by: words(over) } : { verdict: 'not_visible' };
  };
  const final = said => ['ready', 'moving', 'detached'].includes(said.verdict);
  let said = await attempt(false);
  if (!final(said) && said.verdict !== 'disabled' && isSeen(it)) said = await attempt(true);
  if (final(said) || performance.now() - begun + 200 > asked.left) return said;
  await pause(150);
  return attempt(false);
};
