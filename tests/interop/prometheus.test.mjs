// A real Prometheus scrapes a real service under a load whose numbers are known: what it counts is what was done,
// and every query of the dashboards and rules finds something.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, pages, serve } from './support.mjs';

const PROGRAMS = process.env.PROMETHEUS;
const FILES = process.env.TABVISOR_DASHBOARDS;
const promtool = (args, input) => {
  const ran = spawnSync(join(PROGRAMS, 'promtool'), args, { input, encoding: 'utf8' });
  assert.equal(ran.status, 0, `promtool ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
};

// Every metric of the contract, with the words that its labels may have; `null` for those of versions and names.
const CONTRACT = {
  tabvisor_evaluate_duration_seconds_bucket: { engine: ['cdp', 'page'], outcome: ['value', 'threw', 'timeout', 'aborted', 'dialog', 'navigated', 'crashed', 'closed', 'refused', 'overloaded', 'failed'] },
  tabvisor_evaluate_timeouts_total: { engine: ['cdp', 'page'] },
  tabvisor_evaluate_fallback_total: { reason: ['no_backend_node_id', 'node_gone', 'attach_blocked', 'link_failed', 'forced'] },
  tabvisor_evaluates_total: { engine: ['cdp', 'page'] },
  tabvisor_terminate_execution_total: { cause: ['timeout', 'abort', 'operator', 'recovery'], result: ['terminated', 'unanswered', 'failed'] },
  tabvisor_budget_overrun_seconds_bucket: { surface: ['crate', 'http', 'mcp'] },
  tabvisor_action_duration_seconds_bucket: { action: null, outcome: ['ok', 'threw', 'timeout', 'aborted', 'dialog', 'navigated', 'crashed', 'closed', 'refused', 'overloaded', 'failed'] },
  tabvisor_queue_wait_seconds_bucket: { kind: ['action', 'evaluate'] },
  tabvisor_tabs: { state: ['ready', 'busy', 'dialog', 'stuck', 'crashed', 'discarded', 'restarting'] },
  tabvisor_tab_restarts_total: { cause: ['operator', 'stuck', 'crashed', 'browser_lost'], rung: ['dialog', 'terminate', 'stop_loading', 'renderer', 'target', 'browser'] },
  tabvisor_tab_recovery_seconds_bucket: { rung: ['dialog', 'terminate', 'stop_loading', 'renderer', 'target', 'browser'] },
  tabvisor_dialogs_total: { kind: ['alert', 'confirm', 'prompt', 'beforeunload', 'unknown'], resolution: ['accepted', 'dismissed', 'policy', 'elsewhere', 'lost'] },
  tabvisor_crashes_total: { what: ['renderer', 'browser', 'actor'] },
  tabvisor_supervisor_restarts_total: { actor: ['browser', 'dialog_watcher', 'observer', 'evaluates', 'tab'] },
  tabvisor_cdp_links: { purpose: ['browser', 'control', 'page', 'observe', 'evaluate', 'network'] },
  tabvisor_cdp_link_dials_total: { purpose: ['browser', 'control', 'page', 'observe', 'evaluate', 'network'] },
  tabvisor_cdp_messages_total: { purpose: ['browser', 'control', 'page', 'observe', 'evaluate', 'network'], direction: ['in', 'out'] },
  tabvisor_cdp_bytes_total: { purpose: ['browser', 'control', 'page', 'observe', 'evaluate', 'network'], direction: ['in', 'out'] },
  tabvisor_rejected_total: { reason: ['overloaded', 'auth', 'origin', 'policy', 'invalid'] },
  tabvisor_snapshot_duration_seconds_bucket: {},
  tabvisor_snapshot_nodes_bucket: {},
  tabvisor_process_resident_memory_bytes: {},
  tabvisor_chromium_memory_bytes: {},
  tabvisor_chromium_processes: {},
  tabvisor_build_info: { version: null, chromium: null },
};

/** The renderers of a browser: its own group, by the command lines. */
function renderersOf(browser) {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number).filter(pid => {
    try {
      const group = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1).trim().split(' ')[2]);
      return group === browser && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer');
    } catch {
      return false;
    }
  });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function prometheus(context, service) {
  const folder = mkdtempSync(join(tmpdir(), 'tabvisor-prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'token'), service.token);
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(FILES, 'rules.yml')],
    scrape_configs: [{
      job_name: 'tabvisor',
      authorization: { credentials_file: join(folder, 'token') },
      static_configs: [{ targets: [new URL(service.url).host] }],
    }],
  }));
  const child = spawn(join(PROGRAMS, 'prometheus'), [
    `--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', data => (said = (said + data).slice(-5000)));
  context.after(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async path => {
    assert.equal(child.exitCode, null, said);
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const body = await answer.json();
    assert.equal(body.status, 'success', `${path}: ${JSON.stringify(body)}`);
    return body.data;
  };
  await eventually('Prometheus is ready', () => fetch(`http://127.0.0.1:${port}/-/ready`).then(it => it.ok, () => false));
  return { ask, query: async text => (await ask(`query?query=${encodeURIComponent(text)}`)).result };
}

test('what Prometheus counts is what was done, and every query finds something', { timeout: 400_000 }, async context => {
  promtool(['check', 'rules', join(FILES, 'rules.yml')]);
  promtool(['test', 'rules', join(FILES, 'rules_test.yml')]);

  const site = await pages(context, {
    '/': '<title>form</title><button>Save</button><input aria-label=Name>',
    '/other': '<title>other</title><p>other</p>',
  });
  const service = await serve(context);
  const metrics = await prometheus(context, service);
  const scrape = async () => (await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.token}` } })).text();

  const done = {};
  const did = (name, by = 1) => (done[name] = (done[name] ?? 0) + by);
  const open = async () => (await service.post('/tabs/open', { url: site('/') })).targetId;
  const refOf = async tab => {
    const { refs } = await service.get(`/snapshot?targetId=${tab}&interactive=true`);
    return Object.entries(refs).find(([, { role }]) => role === 'button')[0];
  };
  const main = await open();

  const load = async () => {
    const on = await refOf(main);
    const evaluate = more => service.post('/act', { kind: 'evaluate', targetId: main, timeoutMs: 20_000, ...more });
    for (let n = 0; n < 5; n++) {
      assert.equal((await evaluate({ fn: '1 + 1' })).result, 2);
      did('evaluates cdp');
    }
    assert.equal((await evaluate({ fn: 'throw new Error("x")' })).status, 500);
    did('evaluates cdp');
    for (let n = 0; n < 3; n++) {
      assert.equal((await evaluate({ fn: 'el.tagName', ref: on, engine: 'page' })).result, 'BUTTON');
      did('evaluates page');
      did('fallbacks');
    }
    // On an element a script has no timeout of its own, so its end is a termination.
    const looped = await evaluate({ fn: 'for (;;) {}', ref: on, engine: 'cdp', timeoutMs: 2500 });
    assert.equal(looped.reason, 'timeout', JSON.stringify(looped));
    assert.equal(looped.details.phase, 'running', JSON.stringify(looped));
    did('evaluates cdp');
    did('timeouts');
    // On a busy machine its end is heard of later than the answer may wait.
    did(looped.details.terminated ? 'terminations by timeout' : 'terminations without an answer');
    if (!looped.details.terminated) {
      const freed = await service.post(`/tabs/${main}/terminate`, {});
      if (freed.status === 200) did('restarts');
      if (freed.rung === 'terminate') did('terminations by operator');
    }
    await eventually('the page is free', async () => (await service.get(`/snapshot?targetId=${main}`)).status === 200);
    assert.equal((await service.post('/act', { kind: 'press', targetId: main, key: 'Tab' })).status, 200);

    const asked = await evaluate({ fn: 'confirm("sure?")' });
    assert.equal(asked.blockedByDialog, true, JSON.stringify(asked));
    did('evaluates cdp');
    assert.equal((await service.post('/hooks/dialog', { targetId: main, accept: true })).status, 200);
    did('dialogs');

    assert.equal((await service.post(`/tabs/${main}/restart`, { rung: 'renderer' })).rung, 'renderer');
    did('restarts');
    assert.equal((await fetch(`${service.url}/tabs`, { headers: { authorization: 'Bearer guessed' } })).status, 401);
    did('auth');
    assert.equal((await service.post('/navigate', { targetId: main, url: 'file:///etc/passwd' })).status, 400);
    did('policy');
    assert.equal((await evaluate({ fn: '' })).status, 400);
    did('invalid');

    // More at once than a tab takes.
    const all = await Promise.all(Array.from({ length: 20 }, () => evaluate({ fn: 'new Promise(go => setTimeout(go, 1500, 1))' })));
    const refused = all.filter(({ status }) => status === 429).length;
    assert.ok(refused > 0 && all.every(({ status }) => status === 200 || status === 429), JSON.stringify(all));
    did('evaluates cdp', 20);
    did('overloaded', refused);
  };
  await load();
  await load();

  // One that is stuck until it is brought back.
  const stuck = await open();
  const pending = await service.evaluate(stuck, 'setTimeout(() => { for (;;) {} }, 50); return 1');
  assert.equal(pending.result, 1);
  did('evaluates cdp');
  // The loop begins when the page comes to it.
  const silent = await eventually('the page is silent', async () => {
    const answer = await service.evaluate(stuck, '2', 1500);
    did('evaluates cdp');
    return answer.status !== 200 && answer;
  });
  assert.equal(silent.reason, 'timeout', JSON.stringify(silent));
  did('timeouts');
  await eventually('a stuck tab is seen', async () => Number((await metrics.query('sum(tabvisor_tabs{state="stuck"})'))[0]?.value[1]) === 1);
  const freed = await service.post(`/tabs/${stuck}/terminate`, {});
  assert.equal(freed.rung, 'terminate', JSON.stringify(freed));
  did('restarts');
  did('terminations by operator');

  const counts = {
    'evaluates cdp': 'tabvisor_evaluates_total{engine="cdp"}',
    'evaluates page': 'tabvisor_evaluates_total{engine="page"}',
    fallbacks: 'tabvisor_evaluate_fallback_total',
    timeouts: 'tabvisor_evaluate_timeouts_total',
    'terminations by timeout': 'tabvisor_terminate_execution_total{cause="timeout", result="terminated"}',
    'terminations without an answer': 'tabvisor_terminate_execution_total{cause="timeout", result="unanswered"}',
    'terminations by operator': 'tabvisor_terminate_execution_total{cause="operator", result="terminated"}',
    dialogs: 'tabvisor_dialogs_total{kind="confirm", resolution="accepted"}',
    restarts: 'tabvisor_tab_restarts_total',
    auth: 'tabvisor_rejected_total{reason="auth"}',
    policy: 'tabvisor_rejected_total{reason="policy"}',
    invalid: 'tabvisor_rejected_total{reason="invalid"}',
    overloaded: 'tabvisor_rejected_total{reason="overloaded"}',
  };
  for (const name of Object.keys(counts)) done[name] ??= 0;
  assert.deepEqual(Object.keys(counts).sort(), Object.keys(done).sort());
  let seen = {};
  await eventually('Prometheus has counted what was done', async () => {
    for (const [name, query] of Object.entries(counts)) seen[name] = Number((await metrics.query(`sum(${query})`))[0]?.value[1] ?? 0);
    return Object.keys(done).every(name => seen[name] >= done[name]);
  }).catch(error => assert.fail(`${error.message}: ${JSON.stringify({ seen, done })}`));
  assert.deepEqual(seen, done, 'to the unit');

  // Renderers that die, and then the browser, which its supervisor starts again.
  const counted = async query => Number((await metrics.query(`sum(${query})`))[0]?.value[1] ?? 0);
  for (const pid of renderersOf(service.chromium.pid)) process.kill(pid, 'SIGKILL');
  await eventually('their crash is counted', async () => (await counted('tabvisor_crashes_total{what="renderer"}')) > 0);
  process.kill(service.chromium.pid, 'SIGKILL');
  await eventually('the browser is back', async () => (await counted('tabvisor_supervisor_restarts_total{actor="browser"}')) === 1);
  assert.equal(await counted('tabvisor_crashes_total{what="browser"}'), 1);

  const text = await scrape();
  promtool(['check', 'metrics'], text);
  const missing = [];
  for (const [name, labels] of Object.entries(CONTRACT)) {
    const series = await metrics.query(`{__name__="${name}"}`);
    if (series.length === 0) missing.push(name);
    for (const { metric } of series) {
      const { __name__, instance, job, le, ...given } = metric;
      assert.deepEqual(Object.keys(given).sort(), Object.keys(labels).sort(), name);
      for (const [label, value] of Object.entries(given)) assert.ok(!labels[label] || labels[label].includes(value), `${name}: ${label}="${value}"`);
    }
  }
  assert.deepEqual(missing, []);

  const queries = [];
  for (const file of readdirSync(FILES).filter(name => name.endsWith('.json'))) {
    const { panels } = JSON.parse(readFileSync(join(FILES, file), 'utf8'));
    for (const { title, targets = [] } of panels) for (const { expr } of targets) queries.push([`${file}: ${title}`, expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')]);
  }
  assert.ok(queries.length > 30);
  // A rate needs two samples of what happened last.
  for (const [title, query] of queries) await eventually(`${title} finds something: ${query}`, async () => (await metrics.query(query)).length > 0);

  const { groups } = await metrics.ask('rules');
  const rules = groups.flatMap(group => group.rules);
  assert.ok(rules.length >= 13);
  for (const { name, type, health, lastError } of rules) {
    assert.equal(health, 'ok', `${name}: ${lastError}`);
    if (type === 'recording') await eventually(`${name} finds something`, async () => (await metrics.query(name)).length > 0);
  }
});
