// The same work through tabvisor and its peers, in one run on one Chromium: `make peers`.
// `--quick` does it with fewer repeats, `--only NAME,NAME` with the tools whose names contain those,
// `--rows NAME,NAME` only those rows.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { AgentBrowser } from './agent_browser.mjs';
import { Http } from './http.mjs';
import { DevToolsMcp, Ours, PlaywrightMcp } from './mcp_tools.mjs';
import { served } from './pages.mjs';
import { ended } from './processes.mjs';
import { alone, LINES, together } from './rows.mjs';
import { markdown, printable, summarized } from './table.mjs';
import { within } from './time.mjs';
import { Cannot, crate, library } from './tools.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' }, rows: { type: 'string' } } });
const asked = name => !flags.rows || flags.rows.split(',').includes(name);
const effort = flags.quick
  ? { rounds: 2, chunk: 250, hard: 1, cap: 6_000, easyMs: 40_000, allMs: 120_000 }
  : { rounds: 5, chunk: 500, hard: 2, cap: 15_000, easyMs: 200_000, allMs: 350_000 };
/** No further round begins after so much time, however slow the machine: the run ends in its ten minutes. */
const enough = ms => performance.now() - begun > ms;

const setup = {
  folder: resolve(ROOT, process.env.PEERS_FOLDER ?? 'target/peers'),
  tabvisor: resolve(ROOT, process.env.PEERS_TABVISOR ?? 'target/release/tabvisor'),
  crate: resolve(ROOT, process.env.PEERS_CRATE ?? 'target/release/examples/peer'),
  chromium: process.env.TABVISOR_CHROMIUM ?? '/usr/bin/chromium',
};

const tools = [
  crate(setup), new Http(setup), library('playwright-core', setup), library('puppeteer-core', setup),
  new Ours(setup), new PlaywrightMcp(setup), new DevToolsMcp(setup), new AgentBrowser(setup),
].filter(tool => !flags.only || flags.only.split(',').some(it => tool.name.includes(it)));

const begun = performance.now();
const found = Object.fromEntries(tools.map(tool => [tool.name, {}]));
const fails = Object.fromEntries(tools.map(tool => [tool.name, {}]));

function kept(tool, samples) {
  for (const [key, values] of Object.entries(samples)) (found[tool.name][key] ??= []).push(...values);
}

const progress = (round, name) => console.error(`${Math.round((performance.now() - begun) / 1000)} s: ${name}, round ${round + 1}`);

/** A row of one tool that takes much longer than it may is a failure of that row, not of the run. */
async function measured(tool, name, row) {
  try {
    kept(tool, await within(90_000, row(tool)));
    return true;
  } catch (error) {
    const why = error instanceof Cannot ? error.message : `failed: ${error.message.split('\n')[0].slice(0, 160)}`;
    fails[tool.name][name] = why;
    console.error(`  ${tool.name}, ${name}: ${why}`);
    return false;
  }
}

const ROW_OF = Object.fromEntries([
  ...['evaluate', 'memory1'].map(key => [key, 'evaluate']),
  ...['rate1', 'rate4', 'rate16', 'memory16'].map(key => [key, 'rates']),
  ...['open', 'close'].map(key => [key, 'tabs']),
  ...['sibling0', 'sibling5', 'sibling20'].map(key => [key, 'siblings']),
]);

async function easy(pages) {
  const rows = together(pages, effort).filter(([name]) => asked(name));
  if (rows.length === 0) return;
  for (const tool of tools) {
    try {
      await tool.start();
    } catch (error) {
      tool.absent = error.message;
      console.error(`  ${tool.name} does not start: ${error.message}`);
    }
  }
  for (let round = 0; round < effort.rounds && !(round && enough(effort.easyMs)); round++) {
    for (const [name, row] of rows) {
      for (const tool of tools) {
        if (!tool.absent && !fails[tool.name][name]) await measured(tool, name, row);
      }
      progress(round, name);
    }
  }
  for (const tool of tools) await tool.stop();
}

async function hard(pages) {
  for (let round = 0; round < effort.hard && !(round && enough(effort.allMs)); round++) {
    for (const [name, row] of alone(pages, effort).filter(([it]) => asked(it))) {
      for (const tool of tools) {
        const before = Object.values(found[tool.name]).flat().some(it => it.never && it.row === name);
        if (tool.absent || fails[tool.name][name] || before) continue;
        try {
          await tool.start();
          await measured(tool, name, async it => {
            const samples = await row(it);
            for (const value of Object.values(samples).flat()) if (value.never) value.row = name;
            return samples;
          });
        } catch (error) {
          // It did not start: its other rows may go better.
          fails[tool.name][name] = error.message;
        } finally {
          await tool.stop();
        }
      }
      progress(round, name);
    }
  }
}

function versions() {
  const lock = JSON.parse(readFileSync(join(ROOT, 'benches/peers/package-lock.json'), 'utf8'));
  const { dependencies } = lock.packages[''];
  const said = (program, args) => execFileSync(program, args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim();
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    chromium: said(setup.chromium, ['--version']),
    node: process.version,
    tabvisor: said(setup.tabvisor, ['--version']),
    ...dependencies,
  };
}

/** The table of what is known by now. */
function report() {
  const about = { ...versions(), quick: Boolean(flags.quick), rounds: effort.rounds, seconds: Math.round((performance.now() - begun) / 1000) };
  const names = tools.map(({ name, group }) => ({ name, group }));
  const why = (name, key) => tools.find(it => it.name === name).absent ?? fails[name][ROW_OF[key] ?? key];
  const table = summarized(LINES, names, found, why);
  mkdirSync(join(ROOT, 'target/peers'), { recursive: true });
  writeFileSync(join(ROOT, 'target/peers/last.json'), `${JSON.stringify({ about, table, samples: found }, null, 1)}\n`);
  writeFileSync(join(ROOT, 'target/peers/last.md'), markdown(table, about));
  console.log(printable(table));
  console.log(`\n${about.seconds} s; target/peers/last.json, target/peers/last.md`);
}

async function ending(signal) {
  console.error(`${signal}: ending what was started; this is known by now`);
  report();
  for (const tool of tools) await tool.stop();
  await ended();
  process.exit(130);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, ending);

const pages = await served();
try {
  await easy(pages);
  await hard(pages);
} finally {
  await ended();
  pages.close();
}

report();
process.exit(0);
