// What tabs look like: one at a time, seldom, and only of those that are seen and have nothing to do, so that looking
// costs their callers next to nothing.

import { attribute, make } from './dom.js';
import { ask } from './service.js';

/** How long a page may take, and how long no tab is asked after one was. */
const GLANCE_MS = 2_000;
const PAUSE_MS = 700;
/** How old a picture becomes, and how long one is left alone that gave none. */
const FRESH_MS = 10_000;
const ALONE_MS = 30_000;
const OFF = 'tabvisor.no-pictures';

const seen = new Set();
const observer = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
}, { rootMargin: '80px' });
let on = sessionStorage.getItem(OFF) === null;
document.body.dataset.pictures = on;
document.getElementById('pictures').setAttribute('aria-pressed', on);

/** Follows whether the row is seen. */
export function watch(row) {
  observer.observe(row);
  return row;
}

/** The other way from now on; whether pictures are taken. */
export function picturesOn() {
  on = !on;
  document.body.dataset.pictures = on;
  if (on) sessionStorage.removeItem(OFF);
  else sessionStorage.setItem(OFF, 'off');
  return on;
}

/** Says that a picture is of before, where it is. */
export function showPicture(row) {
  const { picture } = row.it;
  attribute(picture, 'data-old', row.tab.state !== 'ready' && row.tab.state !== 'busy');
}

function next() {
  const now = performance.now();
  let chosen = null;
  for (const row of seen) {
    if (!row.isConnected) {
      seen.delete(row);
      observer.unobserve(row);
      continue;
    }
    const { tab, dueAt = 0 } = row;
    const idle = tab?.state === 'ready' && !tab.loading && !tab.queue.actions && !tab.queue.evaluates;
    if (idle && dueAt <= now && (!chosen || dueAt < (chosen.dueAt ?? 0))) chosen = row;
  }
  return chosen;
}

async function take(row) {
  const { tabId, profile, generation } = row.tab;
  const query = new URLSearchParams({ timeoutMs: GLANCE_MS, ...(profile && { profile }) });
  try {
    const answer = await ask(`tabs/${tabId}/thumbnail?${query}`, { signal: AbortSignal.timeout(GLANCE_MS * 2) });
    await put(row.it.picture, await answer.blob());
    row.dueAt = performance.now() + FRESH_MS;
  } catch {
    // No picture is no trouble; a page that was left has another one to show sooner.
    row.dueAt = performance.now() + (row.tab.generation === generation ? ALONE_MS : FRESH_MS);
  }
}

async function put(picture, blob) {
  const url = URL.createObjectURL(blob);
  const image = make('img', { src: url, alt: '' });
  try {
    await image.decode();
    picture.replaceChildren(image);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function round() {
  try {
    const row = on && document.visibilityState === 'visible' ? next() : null;
    if (row) await take(row);
  } finally {
    setTimeout(round, PAUSE_MS);
  }
}

round();
