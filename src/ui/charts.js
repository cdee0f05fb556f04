// How long evaluates took, and why some went another way, since the service started.

import { counted, draw, duration, make, text } from './dom.js';
import { histogram, parsed, quantile, sums } from './metrics.js';
import { ask } from './service.js';

/** What an evaluate is answered with when it did what it was asked. */
const GOOD = new Set(['value', 'threw']);
const WIDTH = 320;
const HEIGHT = 84;
const FALLBACKS = {
  no_backend_node_id: 'no node for the ref', node_gone: 'the node was gone', attach_blocked: 'the page was held',
  link_failed: 'no link of its own', forced: 'asked for',
};

let shownText = '';

export async function renderCharts() {
  const charts = document.getElementById('charts');
  let answer;
  try {
    answer = await ask('metrics', { signal: AbortSignal.timeout(5_000) });
  } catch (failure) {
    if (failure.status === 404) text(charts, 'This service keeps no metrics.');
    return;
  }
  const all = parsed(await answer.text());
  const buckets = histogram(all, 'tabvisor_evaluate_duration_seconds', ({ outcome }) => GOOD.has(outcome));
  const fallbacks = sums(all, 'tabvisor_evaluate_fallback_total', 'reason');
  const total = sums(all, 'tabvisor_evaluates_total').get('') ?? 0;
  // What is the same is not drawn again, and not read out again.
  const now = JSON.stringify([buckets, [...fallbacks], total]);
  if (now === shownText) return;
  shownText = now;
  charts.replaceChildren(...durations(buckets), ...others(fallbacks, total));
}

function within(seconds) {
  return seconds === Infinity ? 'over 120 s' : `within ${duration(seconds * 1000)}`;
}

function durations(buckets) {
  const count = buckets.reduce((sum, it) => sum + it.good + it.bad, 0);
  const bad = buckets.reduce((sum, it) => sum + it.bad, 0);
  if (!count) return [make('p', { class: 'empty' }, 'No evaluate has ended yet.')];
  const words = `${counted(count, 'evaluate')}: half of them ${within(quantile(buckets, 0.5))}, 99 % `
    + `${within(quantile(buckets, 0.99))}; ${bad} without a value`;
  const most = Math.max(...buckets.map(it => it.good + it.bad));
  const step = WIDTH / buckets.length;
  const chart = draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT + 16}`, role: 'img', 'aria-label': words, class: 'chart' });
  buckets.forEach((it, at) => {
    const x = at * step + 1;
    // A single one among thousands is seen, too.
    const tall = n => n ? Math.max(2, n / most * (HEIGHT - 4)) : 0;
    const [good, lost] = [tall(it.good), tall(it.bad)];
    const bar = (y, height, name) => draw('rect', { x, y, width: step - 2, height, rx: 1, class: name });
    if (good) chart.append(bar(HEIGHT - good, good, 'good'));
    if (lost) chart.append(bar(HEIGHT - good - lost, lost, 'bad'));
    if (at % 3 === 1) {
      const label = it.le === Infinity ? 'more' : duration(it.le * 1000);
      chart.append(draw('text', { x: x + step / 2 - 1, y: HEIGHT + 12, 'text-anchor': 'middle' }, label));
    }
  });
  chart.append(draw('line', { x1: 0, x2: WIDTH, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5 }));
  return [make('p', { class: 'caption' }, words), chart];
}

function others(fallbacks, total) {
  const all = [...fallbacks.values()].reduce((sum, n) => sum + n, 0);
  const share = total ? (100 * all / total).toFixed(all ? 1 : 0) : 0;
  const words = `${all} of ${counted(total, 'evaluate')} went by another way than planned (${share} %)`;
  const caption = make('p', { class: 'caption' }, words);
  if (!all) return [caption];
  const rows = [...fallbacks].filter(([, n]) => n).sort((one, other) => other[1] - one[1]);
  const most = rows[0][1];
  const chart = draw('svg', { viewBox: `0 0 ${WIDTH} ${rows.length * 18}`, role: 'img', class: 'chart',
    'aria-label': rows.map(([reason, n]) => `${FALLBACKS[reason] ?? reason}: ${n}`).join(', ') });
  rows.forEach(([reason, n], at) => {
    chart.append(
      draw('text', { x: 0, y: at * 18 + 12 }, FALLBACKS[reason] ?? reason),
      draw('rect', { x: 130, y: at * 18 + 3, width: Math.max(2, n / most * 150), height: 11, rx: 1, class: 'other' }),
      draw('text', { x: 136 + Math.max(2, n / most * 150), y: at * 18 + 12 }, n));
  });
  return [caption, chart];
}
