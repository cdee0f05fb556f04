// The official MCP client and the official inspector against the tools, over both transports.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { eventually, pages, serve } from './support.mjs';

const PROGRAM = process.env.TABVISOR_PROGRAM ?? 'target/debug/tabvisor';
const NO_SANDBOX = process.getuid() === 0 ? { TABVISOR_NO_SANDBOX: '1' } : {};

const BODIES = {
  '/': `<title>Home</title><script>window.log = []; console.log('hello'); fetch('/missing')</script>
    <button onclick="log.push('click ' + event.isTrusted)">Go</button><button onclick="log.push('confirm ' + confirm('really?'))">Asks</button>
    <form onsubmit="event.preventDefault(); log.push('submit ' + line.value)"><input id=line aria-label=Line></form>
    <input type=checkbox aria-label=Box><select aria-label=Choice><option>a<option>b</select><input type=file aria-label=File>
    <a href="data:text/plain,saved" download=saved.txt>Save</a>`,
  '/other': '<title>Other</title>',
};

const home = t => {
  const folder = mkdtempSync(join(tmpdir(), 'tabvisor-mcp-'));
  t.after(() => eventually(`${folder} is removed`, () => {
    try {
      rmSync(folder, { recursive: true, force: true });
      return true;
    } catch {
      return new Promise(done => setTimeout(done, 200));
    }
  }));
  return folder;
};

/** A transport that begins with this version of the protocol. */
function speaking(transport, version) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (message.method === 'initialize') message = { ...message, params: { ...message.params, protocolVersion: version } };
    return send(message, options);
  };
  return transport;
}

async function connected(t, transport, version) {
  const client = new Client({ name: 'interop', version: '0' });
  await client.connect(speaking(transport, version));
  t.after(() => client.close());
  return client;
}

async function overStdio(t, version) {
  const folder = home(t);
  const env = { HOME: folder, PATH: process.env.PATH, ...NO_SANDBOX };
  const transport = new StdioClientTransport({ command: PROGRAM, args: ['mcp'], env, stderr: 'inherit' });
  return { client: await connected(t, transport, version), state: join(folder, '.local/state/tabvisor'), transport };
}

async function overHttp(t, version) {
  const service = await serve(t);
  const requestInit = { headers: { authorization: `Bearer ${service.token}` } };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit });
  t.after(() => transport.terminateSession().catch(() => {}));
  return { client: await connected(t, transport, version), state: join(service.home, '.local/state/tabvisor'), transport };
}

/** Drives every tool once, as an agent would. */
async function everyTool({ client, state }, url) {
  const listed = await client.listTools();
  const called = new Set();
  const result = async (name, args = {}, options) => {
    called.add(name);
    return client.callTool({ name, arguments: args }, undefined, options);
  };
  const tool = async (name, args, options) => {
    const answer = await result(name, args, options);
    const told = answer.structuredContent;
    assert.ok(['ok', 'partial', 'refused', 'failed'].includes(told.status), JSON.stringify(answer));
    assert.equal(answer.content[0].type, 'text');
    assert.equal(Boolean(answer.isError), told.status === 'failed', JSON.stringify(answer));
    return told;
  };
  const ok = async (name, args, options) => {
    const told = await tool(name, args, options);
    assert.equal(told.status, 'ok', `${name}: ${JSON.stringify(told)}`);
    return told;
  };
  const value = async fn => (await ok('browser_evaluate', { function: fn })).observed.value;
  const find = async words => {
    const { outline } = (await ok('get_browser_state')).observed;
    const line = outline.split('\n').find(line => line.includes(words));
    return /\[ref=([^\]]+)\]/.exec(line)[1];
  };

  assert.ok((await ok('browser_prepare')).observed.version);
  const first = await ok('browser_navigate', { url: url('/') });
  assert.equal(first.observed.url, url('/'));
  const tab = first.observed.tab_id;
  await ok('browser_click', { ref: await find('"Go"') });
  await ok('browser_type', { ref: await find('Line'), text: 'typed\n' });
  await ok('browser_press_key', { key: 'Escape' });
  await ok('browser_pointer', { action: 'hover', ref: await find('"Go"') });
  await ok('browser_check', { ref: await find('Box') });
  await ok('browser_select', { ref: await find('Choice'), label: 'b' });
  await ok('browser_fill_form', { fields: [{ ref: await find('Line'), value: 'filled' }] });
  const asked = await tool('browser_click', { ref: await find('"Asks"') });
  assert.equal(asked.dialog.kind, 'confirm');
  const second = await tool('browser_click', { ref: 'e1' });
  assert.equal(second.status, 'refused');
  await ok('browser_dialog', { action: 'accept', dialog_id: asked.dialog.dialog_id });
  assert.deepEqual(await value('log'), ['click true', 'submit typed', 'confirm true']);
  assert.equal(await value("document.querySelector('select').value + line.value"), 'bfilled');

  mkdirSync(join(state, 'uploads'), { recursive: true });
  writeFileSync(join(state, 'uploads/a.txt'), 'four');
  const files = await ok('browser_set_input_files', { ref: await find('File'), files: ['a.txt'] });
  assert.deepEqual(files.observed.files, [{ name: 'a.txt', size: 4 }]);
  const saved = await ok('browser_download', { ref: await find('"Save"'), destination: 'saved.txt' });
  assert.equal(readFileSync(saved.observed.download.path, 'utf8'), 'saved');

  const picture = await result('browser_screenshot');
  assert.equal(picture.content[1].type, 'image');
  assert.ok(existsSync((await ok('browser_pdf')).observed.path));
  assert.match(JSON.stringify((await ok('browser_console')).observed.messages), /hello/);
  assert.match(JSON.stringify((await ok('browser_requests', { filter: '/missing' })).observed.requests), /404/);
  const steps = [{ tool: 'browser_press_key', arguments: { key: 'a' } }, { tool: 'browser_evaluate', arguments: { function: '1 + 1' } }];
  assert.equal((await ok('browser_steps', { steps })).observed.steps[1].observed.value, 2);

  const progress = [];
  const late = await tool('browser_wait', { text: 'never', timeout_ms: 2500 }, { onprogress: news => progress.push(news) });
  assert.equal(late.code, 'browser_budget_exceeded');
  assert.ok(progress.length > 0, 'news of what takes long');
  await ok('browser_navigate', { url: url('/other') });
  assert.equal((await ok('browser_back')).observed.url, url('/'));
  assert.equal((await ok('browser_forward')).observed.url, url('/other'));
  await ok('browser_reload');

  // An abort of the client is a cancellation in the page.
  const abort = new AbortController();
  const counts = 'async () => { for (;;) { window.count = (window.count || 0) + 1; await new Promise(go => setTimeout(go, 5)); } }';
  const counting = result('browser_evaluate', { function: counts }, { signal: abort.signal });
  await eventually('it counts', async () => await value('window.count || 0') > 3);
  abort.abort();
  await assert.rejects(counting);
  await eventually('it counts no more', async () => {
    const before = await value('window.count');
    return before === await value('new Promise(done => setTimeout(() => done(window.count), 200))');
  });

  const unknown = await tool('browser_click', { reff: 'e1' });
  assert.equal(unknown.refusal.detail.nearest, 'ref');
  const closed = await ok('browser_tabs', { action: 'close', tab_id: tab });
  assert.equal(closed.effect, 'confirmed');
  assert.deepEqual(listed.tools.map(tool => tool.name).filter(name => !called.has(name)), [], 'every tool was called');
}

for (const version of ['2024-11-05', '2025-11-25']) {
  test(`every tool over stdio, protocol ${version}`, async t => {
    const url = await pages(t, BODIES);
    const server = await overStdio(t, version);
    await everyTool(server, url);
    const { pid } = server.transport;
    await server.client.close();
    await eventually('the process is gone', () => !existsSync(`/proc/${pid}`));
    const left = readdirSync(join(server.state, 'profiles'), { withFileTypes: true });
    assert.deepEqual(left, [], 'no profile is left');
  });

  test(`every tool over streamable HTTP, protocol ${version}`, async t => {
    const url = await pages(t, BODIES);
    await everyTool(await overHttp(t, version), url);
  });
}

/** The inspector without its window. It hands its own variables on, and one that tabvisor does not know is an error. */
async function inspect(...args) {
  const here = dirname(fileURLToPath(import.meta.url));
  const inspector = join(here, '../node_modules/.bin/mcp-inspector');
  const options = { env: { PATH: process.env.PATH, HOME: process.env.HOME }, maxBuffer: 16 << 20 };
  const { stdout } = await promisify(execFile)(inspector, ['--cli', ...args], options);
  return JSON.parse(stdout);
}

test('the inspector lists and calls over stdio', async t => {
  const folder = home(t);
  const env = Object.entries({ HOME: folder, ...NO_SANDBOX }).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const { tools } = await inspect(...env, PROGRAM, 'mcp', '--method', 'tools/list');
  assert.equal(tools.length, 24);
  const url = await pages(t, BODIES);
  const call = ['--method', 'tools/call', '--tool-name', 'browser_navigate', '--tool-arg', `url=${url('/other')}`];
  const { structuredContent } = await inspect(...env, PROGRAM, 'mcp', ...call);
  assert.equal(structuredContent.observed.http_status, 200, JSON.stringify(structuredContent));
});

test('the inspector lists and calls over streamable HTTP', async t => {
  // This inspector sends no headers.
  const service = await serve(t, '--no-auth');
  const where = [`${service.url}/mcp`];
  const { tools } = await inspect(...where, '--method', 'tools/list');
  assert.equal(tools.length, 24);
  const call = ['--method', 'tools/call', '--tool-name', 'browser_tabs', '--tool-arg', 'action=list'];
  const { structuredContent } = await inspect(...where, ...call);
  assert.equal(structuredContent.status, 'ok', JSON.stringify(structuredContent));
});
