// Chooses options of a select as a user's choice: all at once, then the events.
const labelOf = option => option.label.replace(/\s+/g, ' ').trim();
const choose = async (it, { wanted, by }) => {
  const { el } = fieldOf(it);
  const options = [...el.options];
  const shown = () => options.slice(0, 30).map(option => ({ value: option.value, label: labelOf(option) }));
  const chosen = [];
  for (const one of wanted) {
    const ways = { value: [o => o.value === one], label: [o => labelOf(o) === one.trim()] };
    // A value beats a label.
    let found = [];
    for (const way of by === 'either' ? [...ways.value, ...ways.label] : ways[by]) {
      found = options.filter(way);
      if (found.length) break;
    }
    if (!found.length) return { verdict: 'none', one, options: shown() };
    if (found.length > 1) return { verdict: 'ambiguous', one, options: shown() };
    const [option] = found;
    if (matches(option, ':disabled')) return { verdict: 'disabled', one };
    chosen.push(option);
  }
  for (const option of options) if (option.selected !== chosen.includes(option)) option.selected = chosen.includes(option);
  HTMLElement.prototype.focus.call(el, { preventScroll: true });
  el.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
  await nextFrame();
  if (!isHere(el)) return { verdict: 'gone' };
  const now = [...el.selectedOptions];
  const reverted = now.length !== chosen.length || now.some(option => !chosen.includes(option));
  return { verdict: 'chosen', selected: now.map(option => option.value), labels: now.map(labelOf), reverted };
};
