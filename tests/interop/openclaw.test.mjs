// The real client library and the real agent tool of OpenClaw, against the service.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { eventually, pages, serve } from './support.mjs';

const PACKAGE = new URL('../node_modules/openclaw/dist/extensions/browser/runtime-api.js', import.meta.url);

const BODIES = {
  '/': `<title>Home</title><h1>Home</h1><form onsubmit="event.preventDefault(); seen.push('submit ' + name_.value)">
    <input id=name_ aria-label=Name><input type=checkbox id=box aria-label=Agree><select id=pick aria-label=Pick><option>a<option>b</select></form>
    <button id=go onclick="seen.push('click ' + event.isTrusted)">Go</button><button onclick="seen.push('asked ' + confirm('really?'))">Ask</button>
    <button id=from draggable=true>From</button><button id=to ondragover="event.preventDefault()" ondrop="seen.push('drop')">To</button>
    <a href=/other>Away</a><button onmouseover="seen.push('hover')">Hover</button><p style="margin-top:3000px"><button id=low>Low</button></p>
    <script>window.seen = []; addEventListener('keydown', e => seen.push('key ' + e.key));</script>`,
  '/other': '<title>Other</title><button>There</button>',
};

/** The service, its client library and its tool; every request goes over HTTP. */
async function against(t, ...flags) {
  const url = await pages(t, BODIES);
  const service = await serve(t, ...flags);
  process.env.OPENCLAW_GATEWAY_TOKEN = service.token;
  process.env.OPENCLAW_STATE_DIR = join(service.home, 'openclaw');
  const api = await import(pathToFileURL(PACKAGE.pathname).href);
  const tool = api.createBrowserTool({ sandboxBridgeUrl: service.url, allowHostControl: false });
  const use = async (action, parameters = {}, signal) => {
    const { content, details } = await tool.execute('call', { action, ...parameters }, signal);
    return { text: content.map(part => part.text ?? '').join('\n'), content, details };
  };
  return { url, service, api, base: service.url, use };
}

const refOf = (snapshot, name) => {
  const found = Object.entries(snapshot.refs).find(([, it]) => it.name === name);
  assert.ok(found, `${name} has a ref in ${snapshot.snapshot}`);
  return found[0];
};

test('the client library drives a browser from status to stop', async t => {
  const { url, api, base } = await against(t);
  const status = await api.browserStatus(base);
  assert.equal(status.enabled, true);
  assert.equal(status.running, true);
  assert.equal(status.driver, 'openclaw');
  assert.ok(status.pid > 0);
  const profiles = await api.browserProfiles(base);
  assert.ok(profiles.some(profile => profile.name === status.profile && profile.isDefault));

  const opened = await api.browserOpenTab(base, url('/'), { label: 'home' });
  assert.match(opened.tabId, /^t\d+$/);
  const other = await api.browserOpenTab(base, url('/other'));
  let { tabs } = await api.browserTabs(base);
  assert.equal(tabs.find(tab => tab.tabId === opened.tabId).label, 'home');
  await api.browserFocusTab(base, 'home');
  const listed = await api.browserTabAction(base, { action: 'list' });
  assert.equal(listed.tabs.length, tabs.length);
  await api.browserCloseTab(base, other.targetId);
  ({ tabs } = await api.browserTabs(base));
  assert.ok(!tabs.some(tab => tab.tabId === other.tabId));

  const page = await api.browserSnapshot(base, { format: 'ai', targetId: 'home' });
  assert.equal(page.format, 'ai');
  assert.match(page.snapshot, /button "Go"/);
  const aria = await api.browserSnapshot(base, { format: 'aria', targetId: 'home' });
  assert.ok(aria.nodes.some(node => node.name === 'Go'));
  const efficient = await api.browserSnapshot(base, { mode: 'efficient', targetId: 'home' });
  assert.ok(efficient.snapshot.length < page.snapshot.length * 2);

  const shot = await api.browserScreenshotAction(base, { targetId: 'home' });
  assert.deepEqual([...readFileSync(shot.path).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  const pdf = await api.browserPdfSave(base, { targetId: 'home' });
  assert.equal(readFileSync(pdf.path).subarray(0, 5).toString(), '%PDF-');

  const landed = await api.browserNavigate(base, { url: url('/other'), targetId: 'home' });
  assert.equal(landed.url, url('/other'));
  await api.browserStop(base);
  assert.equal((await api.browserStatus(base)).running, false);
  assert.deepEqual(await api.browserTabs(base), { running: false, tabs: [] });
  await api.browserStart(base);
  assert.equal((await api.browserStatus(base)).running, true);
});

test('every kind of act, judged by the page', async t => {
  const { url, api, base } = await against(t);
  const { targetId } = await api.browserOpenTab(base, url('/'));
  const page = await api.browserSnapshot(base, { interactive: true, targetId });
  const act = request => api.browserAct(base, { targetId, ...request });
  const seen = async () => (await act({ kind: 'evaluate', fn: '() => seen.splice(0)' })).result;
  const on = name => refOf(page, name);

  await act({ kind: 'click', ref: on('Go') });
  assert.deepEqual(await seen(), ['click true']);
  const box = (await act({ kind: 'evaluate', fn: 'el => { const { x, y } = el.getBoundingClientRect(); return { x, y } }', ref: on('Go') })).result;
  await act({ kind: 'clickCoords', x: box.x + 5, y: box.y + 5 });
  assert.deepEqual(await seen(), ['click true']);
  await act({ kind: 'type', ref: on('Name'), text: 'Ada', submit: true });
  assert.ok((await seen()).includes('submit Ada'));
  await act({ kind: 'press', key: 'Escape' });
  assert.deepEqual(await seen(), ['key Escape']);
  await act({ kind: 'hover', ref: on('Hover') });
  assert.ok((await seen()).includes('hover'));
  await act({ kind: 'scrollIntoView', ref: on('Low') });
  assert.ok((await act({ kind: 'evaluate', fn: '() => scrollY' })).result > 1000);
  await act({ kind: 'drag', startRef: on('From'), endRef: on('To') });
  assert.ok((await seen()).includes('drop'));
  await act({ kind: 'select', ref: on('Pick'), values: ['b'] });
  assert.equal((await act({ kind: 'evaluate', fn: '() => pick.value' })).result, 'b');
  await act({ kind: 'fill', fields: [{ ref: on('Name'), value: 'Grace' }, { ref: on('Agree'), type: 'checkbox', value: true }] });
  assert.deepEqual((await act({ kind: 'evaluate', fn: '() => [name_.value, box.checked]' })).result, ['Grace', true]);
  await act({ kind: 'resize', width: 700, height: 500 });
  assert.deepEqual((await act({ kind: 'evaluate', fn: '() => [innerWidth, innerHeight]' })).result, [700, 500]);
  await act({ kind: 'wait', text: 'Home' });
  await act({ kind: 'wait', fn: '() => seen.length >= 0' });
  const batch = await act({ kind: 'batch', actions: [{ kind: 'click', ref: on('Go') }, { kind: 'press', key: 'a' }] });
  assert.deepEqual(batch.results.map(step => step.ok), [true, true]);
  await act({ kind: 'close' });
  assert.ok(!(await api.browserTabs(base)).tabs.some(tab => tab.targetId === targetId));
});

test('scripts: values, refs, budgets, and a caller who gives up', async t => {
  const { url, api, base } = await against(t);
  const { targetId } = await api.browserOpenTab(base, url('/'));
  const sibling = await api.browserOpenTab(base, url('/other'));
  const page = await api.browserSnapshot(base, { interactive: true, targetId });
  const evaluate = (fn, more = {}, options) => api.browserAct(base, { kind: 'evaluate', targetId, fn, ...more }, options);

  assert.equal((await evaluate('document.title')).result, 'Home');
  assert.equal((await evaluate('el => el.textContent', { ref: refOf(page, 'Go') })).result, 'Go');
  await assert.rejects(evaluate('() => { throw new Error("no") }'), /no/);
  await assert.rejects(evaluate('while (true) {}', { timeoutMs: 500 }), /500 ?ms/);
  assert.equal((await evaluate('1 + 1')).result, 2);

  // A caller that goes away costs nobody anything.
  await evaluate('window.count = 0');
  const abort = new AbortController();
  const counting = evaluate('async () => { for (;;) { count += 1; await new Promise(done => setTimeout(done, 5)) } }', {}, { signal: abort.signal });
  await eventually('it counts', async () => (await evaluate('count')).result > 0);
  abort.abort();
  await assert.rejects(counting);
  const still = async () => {
    const before = (await evaluate('count')).result;
    const after = (await evaluate('new Promise(done => setTimeout(() => done(count), 60))')).result;
    return before === after;
  };
  await eventually('it has stopped', still);
  const there = await api.browserAct(base, { kind: 'evaluate', targetId: sibling.targetId, fn: 'document.title' });
  assert.equal(there.result, 'Other');
});

test('dialogs are named, answered and armed', async t => {
  const { url, api, base } = await against(t);
  const { targetId } = await api.browserOpenTab(base, url('/'));
  const page = await api.browserSnapshot(base, { interactive: true, targetId });
  const blocked = await api.browserAct(base, { kind: 'click', targetId, ref: refOf(page, 'Ask') });
  assert.equal(blocked.blockedByDialog, true);
  const [dialog] = blocked.browserState.dialogs.pending;
  assert.equal(dialog.message, 'really?');
  const looked = await api.browserSnapshot(base, { targetId });
  assert.equal(looked.blockedByDialog, true);
  await api.browserArmDialog(base, { accept: true, dialogId: dialog.id, targetId });
  const seen = async () => (await api.browserAct(base, { kind: 'evaluate', targetId, fn: '() => seen' })).result;
  assert.deepEqual(await eventually('the page goes on', async () => {
    const all = await seen();
    return all.length && all;
  }), ['asked true']);
  await api.browserArmDialog(base, { accept: false, targetId });
  assert.equal((await api.browserAct(base, { kind: 'evaluate', targetId, fn: '() => confirm("armed")' })).result, false);
});

test('the agent tool reads, acts and is told what went wrong', async t => {
  const { url, use } = await against(t);
  assert.equal((await use('status')).details.running, true);
  await use('open', { url: url('/'), label: 'work' });
  const page = await use('snapshot', { targetId: 'work', interactive: true });
  assert.match(page.text, /button "Go"/);
  const ref = /button "Go" \[ref=(e\d+)\]/.exec(page.text)[1];
  await use('act', { request: { kind: 'click', ref, targetId: 'work' } });
  const counted = await use('act', { request: { kind: 'evaluate', fn: '() => seen.length', targetId: 'work' } });
  assert.equal(counted.details.result, 1);
  await use('navigate', { url: url('/other'), targetId: 'work' });
  await assert.rejects(use('act', { request: { kind: 'click', ref, targetId: 'work' } }), /Run a new snapshot/);
  await assert.rejects(use('act', { request: { kind: 'click', ref: 'e999', targetId: 'work' } }), /e999/);
  await assert.rejects(use('snapshot', { targetId: 'nobody' }), /nobody/);
  const shot = await use('screenshot', { targetId: 'work' });
  assert.ok(shot.content.some(part => part.type === 'image' || /FILE|MEDIA|png/.test(part.text ?? '')));

  await use('act', { request: { kind: 'evaluate', fn: '() => { console.warn("careful"); setTimeout(() => { throw new Error("late") }) }', targetId: 'work' } });
  await eventually('the console is heard', async () => /careful/.test((await use('console', { targetId: 'work' })).text));
  await eventually('the error is heard', async () => /late/.test((await use('errors', { targetId: 'work' })).text));
  await use('act', { request: { kind: 'evaluate', fn: '() => fetch("/other?asked").then(it => it.status)', targetId: 'work' } });
  await eventually('the request is heard', async () => /other\?asked/.test((await use('requests', { targetId: 'work' })).text));
  assert.match((await use('text', { targetId: 'work' })).text, /There/);
  await use('emulate', { targetId: 'work', timezoneId: 'Asia/Tokyo' });
  const zone = await use('act', { request: { kind: 'evaluate', fn: '() => Intl.DateTimeFormat().resolvedOptions().timeZone', targetId: 'work' } });
  assert.equal(zone.details.result, 'Asia/Tokyo');

  const abort = new AbortController();
  const looping = use('act', { request: { kind: 'evaluate', fn: '() => { while (true); }', targetId: 'work' } }, abort.signal);
  abort.abort();
  await assert.rejects(looping);
  const after = await eventually('the tab works again', () =>
    use('act', { request: { kind: 'evaluate', fn: '() => 40 + 2', targetId: 'work' } }).catch(() => null));
  assert.equal(after.details.result, 42);
});

test('profiles are made, used, reset and deleted, and a browser is looked at', async t => {
  const { url, api, base } = await against(t);
  const { checks, ok } = await api.browserDoctor(base, { deep: true });
  assert.ok(ok && checks.some(check => check.id === 'live' && check.status === 'pass'), JSON.stringify(checks));
  const made = await api.browserCreateProfile(base, { name: 'work', color: '#00aa00' });
  assert.deepEqual([made.profile, made.isRemote], ['work', false]);
  const opened = await api.browserOpenTab(base, url('/other'), { profile: 'work' });
  const evaluated = await api.browserAct(base, { kind: 'evaluate', fn: 'document.title', targetId: opened.targetId }, { profile: 'work' });
  assert.equal(evaluated.result, 'Other');
  await assert.rejects(api.browserAct(base, { kind: 'evaluate', fn: '1', targetId: opened.targetId }), /not found/);
  const rows = await api.browserProfiles(base);
  assert.deepEqual(rows.map(row => [row.name, row.running]), [['openclaw', true], ['work', true]]);
  assert.equal((await api.browserResetProfile(base, { profile: 'work' })).moved, true);
  assert.equal((await api.browserDeleteProfile(base, 'work')).ok, true);
  await assert.rejects(api.browserStatus(base, { profile: 'work' }), /Profile "work" not found/);
});

test('cookies and storage over the plain routes', async t => {
  const { url, service } = await against(t);
  const { targetId } = await service.post('/tabs/open', { url: url('/') });
  const set = await service.post('/cookies/set', { targetId, cookie: { name: 'a', value: '1', url: url('/') } });
  assert.equal(set.status, 200, JSON.stringify(set));
  const { cookies } = await service.get(`/cookies?targetId=${targetId}`);
  assert.deepEqual(cookies.map(({ name, value }) => [name, value]), [['a', '1']]);
  await service.post('/storage/local/set', { targetId, key: 'k', value: 'v' });
  assert.deepEqual((await service.get(`/storage/local?targetId=${targetId}`)).values, { k: 'v' });
  await service.post('/cookies/clear', { targetId });
  assert.deepEqual((await service.get(`/cookies?targetId=${targetId}`)).cookies, []);
});

test('a wrong token is refused in the words that the client knows', async t => {
  const { api, base } = await against(t);
  process.env.OPENCLAW_GATEWAY_TOKEN = 'wrong';
  await assert.rejects(api.browserTabs(base), /401|nauthorized|do NOT retry/i);
});
