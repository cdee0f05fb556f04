// What the tests with other people's clients share: a Chromium that belongs to nobody, the service, pages.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program under test. */
const PROGRAM = process.env.TABVISOR_PROGRAM ?? 'target/debug/tabvisor';
const CHROMIUM = process.env.TABVISOR_CHROMIUM ?? 'chromium';
const NO_SANDBOX = process.getuid() === 0;
const PATIENCE = 60_000;

const folder = () => mkdtempSync(join(tmpdir(), 'tabvisor-interop-'));

/** Ends a process and then removes its folder, also one that its children write in a moment longer. */
function endsWith(test, child, home) {
  test.after(async () => {
    await stopped(child, 'SIGTERM');
    // A renderer that loops outlives its browser by a few seconds, and may still write there.
    await eventually(`${home} is removed`, () => {
      try {
        rmSync(home, { recursive: true, force: true });
        return true;
      } catch {
        return new Promise(done => setTimeout(done, 200));
      }
    });
  });
}

/** The text of a file, once it is there. */
async function written(path, within, ended) {
  const changes = watch(within);
  const stop = AbortSignal.timeout(PATIENCE);
  try {
    for (;;) {
      try {
        const text = readFileSync(path, 'utf8');
        if (text.trim()) return text;
      } catch {}
      if (ended()) throw new Error(`the process ended before it wrote ${path}`);
      await once(changes, 'change', { signal: stop });
    }
  } finally {
    changes.close();
  }
}

async function stopped(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** A Chromium that no service of ours started. */
export async function chromium(test, ...flags) {
  const profile = folder();
  const all = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-first-run', ...flags];
  if (NO_SANDBOX) all.push('--no-sandbox');
  const child = spawn(CHROMIUM, [...all, 'about:blank'], { stdio: 'ignore' });
  endsWith(test, child, profile);
  const port = (await written(join(profile, 'DevToolsActivePort'), profile, () => child.exitCode !== null)).split('\n')[0];
  return { url: `http://127.0.0.1:${port}`, child };
}

/** The service, with a home of its own. */
export async function serve(test, ...flags) {
  const home = folder();
  const ready = join(home, 'ready.json');
  const env = { HOME: home, PATH: process.env.PATH, ...(NO_SANDBOX && { TABVISOR_NO_SANDBOX: '1' }) };
  const all = ['serve', '--listen', '127.0.0.1:0', '--ready-file', ready, ...flags];
  const child = spawn(PROGRAM, all, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', data => (said = (said + data).slice(-20_000)));
  endsWith(test, child, home);
  const facts = JSON.parse(await written(ready, home, () => child.exitCode !== null).catch(error => {
    throw new Error(`${error.message}: ${said}`);
  }));
  const token = readFileSync(facts.tokenFile, 'utf8').trim();
  return { ...facts, token, child, home, stop: () => stopped(child, 'SIGTERM'), ...caller(facts.url, token) };
}

function caller(url, token) {
  const call = async (method, path, body, signal) => {
    const headers = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body), signal });
    return { status: answer.status, ...(await answer.json()) };
  };
  return {
    get: path => call('GET', path),
    post: (path, body, signal) => call('POST', path, body, signal),
    evaluate: (targetId, fn, timeoutMs = 10_000) => call('POST', '/act', { kind: 'evaluate', targetId, fn, timeoutMs }),
  };
}

/** Asks until `look` gives something: for what another process does and tells nobody of. */
export async function eventually(what, look) {
  const stop = AbortSignal.timeout(PATIENCE);
  for (;;) {
    const found = await look();
    if (found) return found;
    if (stop.aborted) throw new Error(`never: ${what}`);
  }
}

/** A server of pages: `{ path: html }`. */
export async function pages(test, bodies) {
  const server = createServer((request, response) => {
    const body = bodies[request.url.split('?')[0]];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(body === undefined ? 'no such page' : `<!doctype html>${body}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => { server.closeAllConnections(); server.close(); });
  return path => `http://127.0.0.1:${server.address().port}${path}`;
}
