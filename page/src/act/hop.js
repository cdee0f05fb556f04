// From a point in a frame to the same point in the document that holds the frame.
const hop = async (it, asked) => {
  const point = () => {
    const box = boxOf(it), style = getComputedStyle(it), px = text => parseFloat(text) || 0;
    const scaleX = it.offsetWidth ? box.width / it.offsetWidth : 1, scaleY = it.offsetHeight ? box.height / it.offsetHeight : 1;
    return {
      x: box.left + (it.clientLeft + px(style.paddingLeft) + asked.x) * scaleX,
      y: box.top + (it.clientTop + px(style.paddingTop) + asked.y) * scaleY,
    };
  };
  const attempt = async always => {
    if (!isHere(it)) return { verdict: 'detached' };
    reveal(it, point, always);
    if (!await isStill(it, performance.now() + Math.min(asked.left / 2, 2000))) return { verdict: 'moving' };
    const at = point(), hit = elementAt(it, at);
    if (!hit) return { verdict: 'not_visible' };
    return contains(it, hit) ? { verdict: 'ready', ...at } : { verdict: 'covered', by: words(hit) };
  };
  let said = await attempt(false);
  if (said.verdict !== 'covered' || asked.left < 300) return said;
  await pause(150);
  // Something of the page may lie over the edge of the viewport.
  return attempt(true);
};
// Brings a frame into view: out of it, it is not drawn, and its animation frames do not come.
const show = it => {
  const { left, top, right, bottom } = boxOf(it);
  const seen = {
    x: (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
    y: (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
  };
  if (elementAt(it, seen) === it) return;
  reveal(it, () => { const box = boxOf(it); return { x: box.left + box.width / 2, y: box.top + box.height / 2 } }, false);
};
// What is at a point, and where that is inside of it if it holds a frame.
const inside = (it, asked) => {
  const box = boxOf(it), style = getComputedStyle(it), px = text => parseFloat(text) || 0;
  const scaleX = it.offsetWidth ? box.width / it.offsetWidth : 1, scaleY = it.offsetHeight ? box.height / it.offsetHeight : 1;
  return {
    x: (asked.x - box.left) / scaleX - it.clientLeft - px(style.paddingLeft),
    y: (asked.y - box.top) / scaleY - it.clientTop - px(style.paddingTop),
  };
};
