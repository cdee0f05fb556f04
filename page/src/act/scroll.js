// How far everything around an element is scrolled, and what became of it.
const offsets = it => {
  const all = new Map();
  for (const up of chain(it)) all.set(up, [up.scrollLeft, up.scrollTop]);
  return all;
};
const beginScroll = it => { globalThis.tabvisorScroll = offsets(it) };
const moved = it => {
  const before = globalThis.tabvisorScroll ?? new Map();
  let x = 0, y = 0;
  for (const [up, [left, top]] of before) { x += up.scrollLeft - left; y += up.scrollTop - top }
  return { x, y };
};
// Scrolling is animated: over once it stood still for some frames after it moved, or never began.
const endScroll = async (it, { left }) => {
  const until = performance.now() + Math.min(left / 2, 1500);
  let last = moved(it), still = 0;
  for (;;) {
    await frameOver();
    const now = moved(it);
    still = now.x === last.x && now.y === last.y ? still + 1 : 0;
    last = now;
    if (still >= (now.x || now.y ? 5 : 12) || performance.now() > until) break;
  }
  delete globalThis.tabvisorScroll;
  return last;
};
