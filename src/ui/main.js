// The console: asks for the token where one is needed, then shows what is known and keeps it so.

import { renderCharts } from './charts.js';
import { shown, text } from './dom.js';
import { logged } from './log.js';
import { listen } from './stream.js';
import { findToken, keepToken, look } from './service.js';
import { renderTabs, tick } from './tabs.js';
import { renderTree } from './tree.js';

/** How often is looked without being told, in ms: seen, and in the background. */
const LOOK_MS = { visible: 2_000, hidden: 15_000 };
const METRICS_MS = 5_000;
/** Events come in bursts; one look serves all of one. */
const BURST_MS = 150;

const by = id => document.getElementById(id);
let asked = 0;
let timer = null;
let live = false;

function connection(is, words) {
  by('connection').dataset.is = is;
  text(by('connection'), words);
}

/** Looks once and shows it. The next look is planned in any case. */
async function refresh() {
  clearTimeout(timer);
  timer = null;
  const mine = ++asked;
  try {
    const tree = await look('supervisor');
    if (mine !== asked) return;
    show(tree);
    connection(live ? 'live' : 'polling', live ? 'live' : 'no events: looking every 2 s');
  } catch (failure) {
    if (mine !== asked) return;
    if (failure.status === 401) return signIn('The token is not taken any more.');
    connection('lost', 'the service does not answer');
  }
  soon(LOOK_MS[document.visibilityState] ?? LOOK_MS.visible);
}

function soon(ms) {
  clearTimeout(timer);
  timer = setTimeout(refresh, ms);
}

function show(tree) {
  const browser = tree.browsers[0];
  text(by('facts'), [browser?.version?.replace('/', ' '), `tabvisor ${tree.version}`, tree.stopping && 'stopping']
    .filter(Boolean).join(' · '));
  renderTabs(tree);
  renderTree(tree);
}

function heard(event) {
  logged(event);
  soon(BURST_MS);
}

async function metrics() {
  try {
    if (document.visibilityState === 'visible') await renderCharts();
  } finally {
    setTimeout(metrics, METRICS_MS);
  }
}

function begin() {
  shown(by('sign-in'), false);
  shown(by('console'), true);
  refresh();
  listen(heard, is => {
    live = is;
    // What happened in between was told to nobody here.
    soon(0);
  });
  metrics();
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') soon(0); });
}

/** Asks for the token until the service takes it. */
function signIn(why) {
  keepToken(null);
  connection('starting', 'not signed in');
  shown(by('console'), false);
  shown(by('sign-in'), true);
  text(by('refused'), why);
  by('token').value = '';
  by('token').focus();
}

async function submitted(event) {
  event.preventDefault();
  keepToken(by('token').value.trim());
  text(by('refused'), '');
  if (await admitted('This token is wrong.')) location.reload();
}

/** Whether the service takes the token, or needs none. */
async function admitted(refusal) {
  try {
    await look('supervisor');
    return true;
  } catch (failure) {
    if (failure.status === 401) signIn(refusal);
    else {
      connection('lost', 'the service does not answer');
      text(by('refused'), `The service does not answer: ${failure.message}`);
    }
    return false;
  }
}

async function start() {
  by('sign-in').querySelector('form').addEventListener('submit', submitted);
  // A link with a token that is opened where the console is open already.
  addEventListener('hashchange', () => { if (location.hash.startsWith('#token=')) { findToken(); location.reload(); } });
  const had = findToken() !== null;
  for (let wait = 1_000; ; wait = Math.min(wait * 2, 15_000)) {
    if (await admitted(had ? 'This token is wrong.' : '')) return begin();
    if (!by('sign-in').hidden) return;
    await new Promise(go => setTimeout(go, wait));
  }
}

start();
