// The web console as axe sees it: in light and dark, wide and on a phone, with a token asked for, with tabs in trouble.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';

import { chromium as playwright } from 'playwright-core';

import { chromium, eventually, pages, serve } from './support.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const BODIES = {
  '/': '<title>Home</title><p>home</p>',
  '/untitled': '<p>no title</p>',
};
const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'light', viewport: { width: 390, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 800 } },
];

async function check(page, what) {
  // Not as an element: the page's policy would refuse it.
  await page.evaluate(AXE);
  const found = await page.evaluate(tags => axe.run({ runOnly: tags, resultTypes: ['violations'] }), TAGS);
  assert.ok(found.passes.length > 10, `${what}: axe looked at nothing`);
  const told = found.violations.map(it => `${it.id}: ${it.nodes.map(node => `${node.target} ${node.failureSummary}`).join('\n')}`);
  assert.deepEqual(told, [], what);
}

test('axe finds nothing wrong with the console', { timeout: 300_000 }, async t => {
  const url = await pages(t, BODIES);
  const service = await serve(t);
  const open = async path => (await service.post('/tabs/open', { url: url(path) })).tabId;
  const [asks, stuck] = [await open('/'), await open('/')];
  await open('/untitled');
  await service.evaluate(asks, 'setTimeout(() => prompt("Whose?", "Ada"), 0); return 1');
  await service.evaluate(stuck, 'setTimeout(() => { for (;;); }, 100); return 1');
  const stop = new AbortController();
  const body = { kind: 'evaluate', targetId: stuck, fn: 'new Promise(() => {})', timeoutMs: 100_000 };
  const held = service.post('/act', body, stop.signal).catch(() => {});
  t.after(() => stop.abort());

  const viewer = await chromium(t);
  const client = await playwright.connectOverCDP(viewer.url);
  t.after(() => client.close());
  for (const look of LOOKS) {
    const words = `${look.colorScheme}, ${look.viewport.width} wide`;
    const context = await client.newContext(look);
    const page = await context.newPage();
    await page.goto(`${service.url}/ui`);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByText('This token is wrong.').waitFor();
    await check(page, `the token, ${words}`);
    await page.getByLabel('Token').fill(service.token);
    await page.keyboard.press('Enter');
    for (const [tab, state] of [[asks, 'dialog'], [stuck, 'stuck']]) {
      await page.locator(`#rows > li[data-tab=${tab}][data-state=${state}]`).waitFor({ timeout: 60_000 });
    }
    await page.locator('#charts svg').first().waitFor();
    await check(page, `tabs in trouble, ${words}`);
    await page.getByRole('button', { name: `Close ${asks}`, exact: true }).click();
    await page.getByRole('button', { name: `Really close ${asks}` }).waitFor();
    await check(page, `a question, ${words}`);
    await context.close();
  }
  stop.abort();
  await held;
  const { tabs } = await service.get('/tabs');
  assert.ok(tabs.some(tab => tab.tabId === asks), 'nothing was closed');
  await eventually('the stuck one can be brought back', async () => (await service.post(`/tabs/${stuck}/restart`, {})).ok);
});
