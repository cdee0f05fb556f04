// The list of tabs: which are shown, in a fixed order, and what is counted of them.

import { attribute, counted, keyed, shown, text } from './dom.js';
import { picturesOn, watch } from './pictures.js';
import { createRow, tickRow, updateRow } from './row.js';

const TROUBLE = new Set(['stuck', 'crashed', 'dialog']);
/** Pages of the browser itself, which the service's callers do not see. */
const INTERNAL = /^(chrome|chrome-extension|chrome-search|chrome-untrusted|devtools|edge|brave):/;
/** In which order states are counted. */
const STATES = ['ready', 'busy', 'dialog', 'stuck', 'crashed', 'discarded', 'restarting'];

const by = id => document.getElementById(id);
let tabs = [];
let browsers = [];
let onlyTrouble = false;

by('only').addEventListener('click', () => {
  onlyTrouble = !onlyTrouble;
  attribute(by('only'), 'aria-pressed', onlyTrouble);
  render();
});
by('pictures').addEventListener('click', () => attribute(by('pictures'), 'aria-pressed', picturesOn()));

export function renderTabs(tree) {
  const at = performance.now();
  browsers = tree.browsers;
  const several = browsers.length > 1;
  const number = tab => Number(tab.tabId.slice(1));
  tabs = browsers.flatMap(browser => browser.tabs
    .filter(tab => !INTERNAL.test(tab.url))
    .map(tab => ({ ...tab, profile: browser.profile, said: several ? browser.profile : null, at }))
    .sort((one, other) => number(one) - number(other)));
  render();
}

function render() {
  const inTrouble = tabs.filter(tab => TROUBLE.has(tab.state));
  // One that is answered stays until its row has said so.
  const rows = onlyTrouble ? tabs.filter(tab => TROUBLE.has(tab.state) || holdsFocus(tab)) : tabs;
  keyed(by('rows'), rows, tab => tab.tabId, tab => watch(createRow(tab)), updateRow);
  const counts = STATES.map(state => [state, tabs.filter(tab => tab.state === state).length]).filter(([, n]) => n);
  text(by('counts'), [counted(tabs.length, 'tab'), ...counts.map(([state, n]) => `${n} ${state}`)].join(' · '));
  text(by('only'), `Only those in trouble (${inTrouble.length})`);
  by('only').dataset.some = inTrouble.length > 0;
  document.title = inTrouble.length ? `(${inTrouble.length}) tabvisor` : 'tabvisor';
  shown(by('none'), rows.length === 0);
  text(by('none'), nothing());
}

function nothing() {
  if (tabs.length) return 'No tab is in trouble.';
  if (!browsers.length) return 'No browser runs. It is started with the first tab: tabvisor open URL';
  return 'No tab is open. Open one: tabvisor open URL';
}

function holdsFocus(tab) {
  return document.activeElement?.closest('#rows > li')?.dataset.tab === tab.tabId;
}

/** Lets times go on between two looks. */
export function tick() {
  for (const row of by('rows').children) tickRow(row);
}
