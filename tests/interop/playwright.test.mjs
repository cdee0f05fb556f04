// A Playwright client and the service side by side on one Chromium.

import assert from 'node:assert/strict';
import test from 'node:test';

import { chromium as playwright } from 'playwright-core';

import { chromium, eventually, pages, serve } from './support.mjs';

const BODIES = {
  '/': '<title>Home</title><button onclick="document.title=\'clicked\'">Go</button>',
  '/other': '<title>Other</title>',
};

async function beside(test) {
  const url = await pages(test, BODIES);
  const browser = await chromium(test);
  const client = await playwright.connectOverCDP(browser.url);
  test.after(() => client.close());
  const service = await serve(test, '--cdp-url', browser.url);
  const page = await client.contexts()[0].newPage();
  await page.goto(url('/'));
  const row = await eventually('the page has its row', async () => {
    const { tabs } = await service.get('/tabs');
    return tabs.find(row => row.url === url('/') && row.state === 'ready');
  });
  return { url, client, service, page, tab: row.tabId };
}

test('a Playwright page that loops is freed by the service and goes on', async t => {
  const { url, service, page, tab, client } = await beside(t);
  const sibling = await client.contexts()[0].newPage();
  await sibling.goto(url('/other'));

  const looping = page.evaluate('while (true) {}').then(() => 'returned', error => error.message);
  const clicked = page.click('button');
  // Its row cannot tell: the script is not ours.
  await eventually('it holds the page', async () => {
    const spent = await service.evaluate(tab, '1 + 1', 500);
    return spent.status === 500 && spent.reason === 'timeout';
  });
  assert.equal(await sibling.title(), 'Other');

  const ended = await service.post(`/tabs/${tab}/terminate`, {});
  assert.equal(ended.status, 200, JSON.stringify(ended));
  assert.notEqual(await looping, 'returned');
  await clicked;
  assert.equal(await page.title(), 'clicked');
  assert.equal(await page.evaluate('1 + 1'), 2);
  assert.equal((await service.evaluate(tab, 'document.title')).result, 'clicked');
});

test('what is not ours is never closed', async t => {
  const { service, page, tab } = await beside(t);
  assert.equal((await service.evaluate(tab, '40 + 2')).result, 42);
  await service.stop();
  assert.equal(await page.evaluate('1 + 1'), 2);
  assert.equal(await page.title(), 'Home');
});

test('a tab that a Playwright client opens, names and closes is followed', async t => {
  const { url, client, service, page, tab } = await beside(t);
  await page.evaluate("document.title = 'Renamed'");
  await eventually('the title is known', async () => {
    const { tabs } = await service.get('/tabs');
    return tabs.some(row => row.tabId === tab && row.title === 'Renamed');
  });
  const popup = client.contexts()[0].waitForEvent('page');
  await service.post('/act', { kind: 'evaluate', targetId: tab, fn: `window.open(${JSON.stringify(url('/other'))})` });
  await (await popup).waitForLoadState();
  await page.close();
  await eventually('the tab is gone', async () => {
    const { tabs } = await service.get('/tabs');
    return !tabs.some(row => row.tabId === tab) && tabs.some(row => row.url === url('/other'));
  });
});

test('one that attaches to a browser with stuck tabs can work at once', async t => {
  const url = await pages(t, BODIES);
  const browser = await chromium(t);
  const client = await playwright.connectOverCDP(browser.url);
  t.after(() => client.close());
  const context = client.contexts()[0];
  const looping = [];
  for (let at = 0; at < 3; at += 1) {
    const page = await context.newPage();
    await page.goto(url('/'));
    looping.push(page.evaluate('while (true) {}').catch(() => {}));
  }
  const free = await context.newPage();
  await free.goto(url('/other'));

  const service = await serve(t, '--cdp-url', browser.url);
  const row = await eventually('the free page has its row', async () => {
    const { tabs } = await service.get('/tabs');
    return tabs.length >= 4 && tabs.find(row => row.url === url('/other'));
  });
  assert.equal((await service.evaluate(row.tabId, '1 + 1')).result, 2);
});
