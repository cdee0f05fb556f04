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
  const reveal = () => {
    for (const up of chain(above(it))) {
      if (up === document.scrollingElement || getComputedStyle(up).overflow === 'visible') continue;
      const box = boxOf(up), { x, y } = point();
      if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) continue;
      up.scrollBy({ left: x - box.left - box.width / 2, top: y - box.top - box.height / 2, behavior: 'instant' });
    }
    const { x, y } = point();
    const inView = x >= 0 && x < innerWidth && y >= 0 && y < innerHeight;
    if (!inView) scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });
  };
  const attempt = async () => {
    if (!isHere(it)) return { verdict: 'detached' };
    reveal();
    if (!await isStill(it, performance.now() + Math.min(asked.left / 2, 2000))) return { verdict: 'moving' };
    const at = point(), hit = elementAt(it, at);
    if (!hit) return { verdict: 'not_visible' };
    return contains(it, hit) ? { verdict: 'ready', ...at } : { verdict: 'covered', by: words(hit) };
  };
  let said = await attempt();
  if (said.verdict !== 'covered' || asked.left < 300) return said;
  // Something of the page may lie over the edge of the viewport.
  const { x, y } = point();
  scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });
  await pause(150);
  return attempt();
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
