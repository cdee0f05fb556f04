import assert from 'node:assert/strict';
import { test } from 'node:test';

import { markdown, printable, short, summarized } from './table.mjs';

const LINES = [
  { key: 'evaluate', label: 'evaluate, median', unit: 'ms' },
  { key: 'evaluate', label: 'evaluate, p95', unit: 'ms', of: 'p95' },
  { key: 'rate', label: 'rate', unit: '/s', higher: true },
  { key: 'runaway', label: 'usable again', unit: 'ms' },
];
const TOOLS = [
  { name: 'tabvisor crate', group: 'library' },
  { name: 'library', group: 'library' },
  { name: 'tabvisor MCP', group: 'mcp' },
  { name: 'server', group: 'mcp' },
];
const FOUND = {
  'tabvisor crate': { evaluate: [1, 2, 9], rate: [400], runaway: [1_010] },
  library: { evaluate: [4], rate: [800], runaway: [{ never: 15_000, said: 'no answer' }] },
  'tabvisor MCP': { evaluate: [3], rate: [300], runaway: [1_020] },
  server: { evaluate: [300] },
};
const why = (name, key) => (name === 'server' && key !== 'evaluate' ? 'it has no tabs' : undefined);
const table = summarized(LINES, TOOLS, FOUND, why);

test('medians and p95 come of the same samples', () => {
  assert.equal(table[0].cells['tabvisor crate'].value, 2);
  assert.equal(table[1].cells['tabvisor crate'].value, 9);
});

test('leads are on peers of the same kind, and turned where more is better', () => {
  assert.deepEqual(table[0].leads, { 'tabvisor crate': { library: 2 }, 'tabvisor MCP': { server: 100 } });
  assert.deepEqual(table[2].leads, { 'tabvisor crate': { library: 0.5 } });
});

test('a tool that never answers is shown as that, one that cannot with its reason', () => {
  const text = printable(table);
  assert.match(text, /usable again, ms +1,010 +never \(15 s\) +1,020 +-\n/);
  assert.match(text, /library, usable again: nothing in 15 s; the last word was: no answer/);
  assert.match(text, /server, rate: it has no tabs/);
  assert.match(text, /usable again +only ours +-/);
  assert.match(text, /rate +0\.50 ! /);
});

test('a failed round does not hide behind the answers of others', () => {
  const found = { ...FOUND, library: { evaluate: [4, { never: 6_000, said: 'x' }, 5] } };
  assert.equal(summarized(LINES, TOOLS, found, why)[0].cells.library.never, 6_000);
});

test('the page says on what it was measured', () => {
  const about = { cores: 2, cpu: 'a cpu', chromium: 'Chromium 1', node: 'v20', tabvisor: 'tabvisor 0', quick: true, rounds: 2, seconds: 90, library: '1.2.3' };
  const page = markdown(table, about);
  assert.match(page, /Chromium 1, on 2 cores/);
  assert.match(page, /library 1\.2\.3/);
  assert.match(page, /\(quick: few repeats\)/);
  for (const line of page.split('\n').filter(it => it.startsWith('|'))) assert.ok(line.split('|').length >= 5, line);
});

test('three digits', () => {
  assert.deepEqual([short(0.1234), short(12.345), short(1234.5), short(undefined)], ['0.12', '12.3', '1,235', '-']);
});
