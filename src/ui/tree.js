// The supervision tree: browsers, their tabs, the actors of these.

import { keyed, make, shown, text } from './dom.js';

export function renderTree(tree) {
  const root = document.getElementById('tree');
  keyed(root, tree.browsers, browser => browser.browser, createBrowser, updateBrowser);
}

const share = ({ taken, limit }) => `${taken}/${limit}`;
const restarts = ({ inWindow, max }) => `${inWindow} of ${max} restarts used`;

function createBrowser() {
  const it = { head: make('summary'), cause: make('p', { class: 'told' }), tabs: make('ul') };
  const browser = make('details', { open: true }, it.head, it.cause, it.tabs);
  browser.it = it;
  return browser;
}

function updateBrowser(element, browser) {
  const { it } = element;
  element.dataset.state = browser.state;
  const name = browser.profile ?? String(browser.browser);
  text(it.head, [
    `${name}: ${browser.state}`, `epoch ${browser.epoch}`, restarts(browser.restarts),
    `tabs ${share(browser.openTabs)}`, `evaluates ${share(browser.evaluates)}`, `dials ${share(browser.dials)}`,
  ].join(' · '));
  shown(it.cause, Boolean(browser.cause));
  text(it.cause, browser.cause);
  keyed(it.tabs, browser.tabs, tab => tab.tabId, createTab, updateTab);
}

function createTab(tab) {
  const it = { facts: make('span', { class: 'more' }), actors: make('span', { class: 'actors' }) };
  const element = make('li', {}, make('code', {}, tab.tabId), it.actors, it.facts);
  element.it = it;
  return element;
}

function updateTab(element, tab) {
  const { it } = element;
  keyed(it.actors, tab.actors, actor => actor.actor, () => make('span'), (chip, actor) => {
    // An actor without its link does no work either.
    const state = actor.state === 'running' && actor.link === false ? 'no link' : actor.state;
    chip.dataset.state = state;
    text(chip, state === 'running' ? words(actor.actor) : `${words(actor.actor)}: ${state}`);
  });
  const { inWindow } = tab.actorRestarts;
  text(it.facts, [
    inWindow && restarts(tab.actorRestarts),
    tab.lastRecovery && `last recovery: ${recovery(tab.lastRecovery)}`,
  ].filter(Boolean).join(' · '));
}

const words = name => name.replaceAll('_', ' ');

function recovery({ rung, why }) {
  return rung ? words(rung) : `failed, ${why}`;
}
