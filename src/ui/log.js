// The last events, newest first.

import { duration, make, say, shown } from './dom.js';

const MOST = 200;
/** Those that an operator is told of wherever they look. */
const TOLD = {
  tab_stuck: it => `${it.tab} is stuck`,
  tab_crashed: it => `${it.tab} has crashed`,
  dialog_opened: it => `${it.tab} waits for the answer to a dialog`,
  browser_lost: () => 'A browser is gone',
  tab_freed: it => `${it.tab} answers again`,
  tab_recovered: it => `${it.tab} is back, by ${words(it.rung)}`,
  recovery_failed: it => `${it.tab} could not be brought back`,
};
const BAD = new Set(['tab_stuck', 'tab_crashed', 'tab_lost', 'recovery_failed', 'browser_lost', 'actor_restarted', 'lagged']);
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
/** What is said by other means already, or is for programs. */
const SILENT = new Set(['event', 'seq', 'tab', 'browser', 'epoch', 'generation', 'tab_id', 'tabId']);

export function logged({ name, data }) {
  const log = document.getElementById('log');
  const now = new Date();
  log.prepend(make('li', { 'data-is': BAD.has(name) ? 'bad' : 'plain' },
    make('time', { datetime: now.toISOString() }, clock.format(now)), ' ',
    make('code', {}, data.tab ?? data.tabId ?? ''), ' ',
    make('span', { class: 'event' }, name.replaceAll('_', ' ')), ' ',
    make('span', { class: 'more' }, details(data))));
  while (log.childElementCount > MOST) log.lastElementChild.remove();
  shown(document.getElementById('quiet'), false);
  if (TOLD[name]) say(TOLD[name](data), BAD.has(name));
}

function details(data) {
  const parts = Object.entries(data).filter(([name, value]) => !SILENT.has(name) && value !== null);
  return parts.map(([name, value]) => said(name, value)).filter(Boolean).join(', ');
}

function said(name, value) {
  const ms = name.match(/^(.*?)_?[mM]s$/);
  if (ms && typeof value === 'number') return `${words(ms[1])} ${duration(value)}`;
  if (name === 'dialog') return `${value.type}: ${value.message}`;
  if (name === 'url' || name === 'version') return String(value);
  if (Array.isArray(value)) return value.length ? `${words(name)} ${value.map(one => typeof one === 'object' ? JSON.stringify(one) : one).join(', ')}` : '';
  if (typeof value === 'object') return `${words(name)} ${JSON.stringify(value)}`;
  return `${words(name)} ${value}`;
}

const words = name => name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ').toLowerCase();
