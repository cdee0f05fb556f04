// A tab as a row: what it is, how it is, and what can be done about it.

import { createDialog, updateDialog } from './dialog.js';
import { attribute, counted, duration, make, say, shown, text } from './dom.js';
import { showPicture } from './pictures.js';
import { work } from './service.js';

/** A state in a sign besides its colour. */
const SIGNS = { ready: '●', busy: '◐', dialog: '◆', stuck: '■', crashed: '✕', discarded: '○', restarting: '↻' };
const BY = {
  script: 'by a script', evaluate: 'by an evaluate', native: 'by something no script can end',
  navigation: 'by a navigation', unknown: '',
};
/** How long a question stands. */
const SURE_MS = 5_000;
/** Icons that need no request. */
const OWN_ICON = /^data:image\//i;

/** The row of a tab, empty. */
export function createRow(tab) {
  const row = make('li', { 'data-tab': tab.tabId });
  const it = row.it = {
    picture: make('div', { class: 'picture', 'aria-hidden': 'true' }),
    icon: make('span', { class: 'icon', 'aria-hidden': 'true' }),
    title: make('h3'),
    url: make('p', { class: 'url' }),
    state: make('span', { class: 'state' }),
    stuck: make('span', { class: 'stuck' }),
    id: make('code', {}, tab.tabId),
    facts: make('span', { class: 'more' }),
    said: make('p', { class: 'told' }),
    buttons: make('div', { class: 'buttons' }),
    dialog: createDialog(tab),
  };
  it.restart = button('Restart', tab, 'Bring the tab back, by the mildest way that works', () => restart(row));
  it.terminate = button('End scripts', tab, 'End what runs; the document stays', () => terminate(row));
  it.close = button('Close', tab, 'Close the tab; its page is lost', () => close(row));
  it.close.addEventListener('blur', () => unsure(it.close));
  it.buttons.append(it.restart, it.terminate, it.close);
  row.append(
    it.picture,
    make('div', { class: 'what' },
      make('div', { class: 'name' }, it.icon, it.title),
      it.url,
      make('p', { class: 'how' }, it.state, it.stuck, it.id, it.facts),
      it.said),
    it.buttons,
    it.dialog);
  return row;
}

function button(words, tab, about, clicked) {
  return make('button', {
    type: 'button', 'data-words': words, title: about, 'aria-label': `${words} ${tab.tabId}`, onclick: clicked,
  }, words);
}

export function updateRow(row, tab) {
  const { it } = row;
  row.tab = tab;
  row.dataset.state = tab.state;
  text(it.title, tab.title || (tab.loading ? 'Loading' : 'Without a title'));
  attribute(it.title, 'title', tab.title || null);
  text(it.url, tab.url);
  attribute(it.url, 'title', tab.url);
  icon(it.icon, tab);
  text(it.state, `${SIGNS[tab.state] ?? '?'} ${tab.state}`);
  text(it.facts, facts(tab).join(' · '));
  text(it.said, told(tab));
  updateDialog(it.dialog, tab);
  showPicture(row);
  tickRow(row);
}

/** What changes by itself. */
export function tickRow(row) {
  const { tab, it } = row;
  if (!tab) return;
  const stuck = tab.stuckForMs === undefined ? null : tab.stuckForMs + performance.now() - tab.at;
  shown(it.stuck, stuck !== null);
  text(it.stuck, stuck === null ? '' : `for ${duration(stuck)} ${BY[tab.stuckBy] ?? ''}`.trimEnd());
}

function icon(element, tab) {
  const own = OWN_ICON.test(tab.favicon ?? '') ? tab.favicon : null;
  if (own) {
    if (element.firstElementChild?.getAttribute('src') === own) return;
    element.replaceChildren(make('img', { src: own, alt: '', width: 16, height: 16 }));
    return;
  }
  if (element.firstElementChild) element.replaceChildren();
  text(element, letter(tab));
}

/** What stands for a page without an icon of its own. */
function letter(tab) {
  let host = '';
  try {
    host = new URL(tab.url).hostname.replace(/^www\./, '');
  } catch {}
  return [...((/^[\d.[]/.test(host) ? '' : host) || tab.title.trim() || tab.tabId)][0].toUpperCase();
}

function facts(tab) {
  const { actions, evaluates } = tab.queue;
  return [
    tab.said,
    (actions || evaluates) && `queue ${actions} + ${evaluates}`,
    tab.loading && 'loading',
    tab.opener && `opened by ${tab.opener}`,
    tab.sharedRenderer && `one renderer with ${listed(tab.sharedRenderer)}`,
    tab.restarts && counted(tab.restarts, 'restart'),
    tab.popupsClosed && `${counted(tab.popupsClosed, 'popup')} closed`,
  ].filter(Boolean);
}

const listed = tabs => tabs.length > 4 ? `${tabs.slice(0, 3).join(', ')} and ${tabs.length - 3} more` : tabs.join(', ');

function told(tab) {
  if (tab.error) return `The last load failed: ${tab.error.description}`;
  return tab.lastFailure ? `An actor failed: ${tab.lastFailure}` : '';
}

const restart = row => act(row, row.it.restart, 'POST', '/restart', answer =>
  `${row.tab.tabId} is back, by ${answer.rung.replaceAll('_', ' ')}`);

const terminate = row => act(row, row.it.terminate, 'POST', '/terminate', () => `Scripts on ${row.tab.tabId} were ended`);

/** Asked once more, since nothing brings the page back. */
function close(row) {
  const it = row.it.close;
  if (!it.dataset.sure) {
    it.dataset.sure = 'asked';
    text(it, 'Really close');
    attribute(it, 'aria-label', `Really close ${row.tab.tabId}`);
    it.timer = setTimeout(() => unsure(it), SURE_MS);
    return;
  }
  unsure(it);
  act(row, it, 'DELETE', '', () => `${row.tab.tabId} is closed`);
}

function unsure(it) {
  clearTimeout(it.timer);
  delete it.dataset.sure;
  text(it, it.dataset.words);
  attribute(it, 'aria-label', `Close ${it.closest('li')?.dataset.tab ?? ''}`);
}

async function act(row, pressed, method, path, done) {
  // Not disabled: that would take the focus away.
  if (pressed.getAttribute('aria-disabled')) return;
  attribute(pressed, 'aria-disabled', 'true');
  const { tabId, profile } = row.tab;
  try {
    say(done(await work(method, `tabs/${tabId}${path}`, profile)));
  } catch (failure) {
    say(`${pressed.dataset.words} ${tabId}: ${failure.message}`, true);
  } finally {
    attribute(pressed, 'aria-disabled', null);
  }
}
