// playwright-core or puppeteer-core in a process of its own, driven by lines of JSON: its times are
// measured here, so that they are those of a program that uses the library. Its argument is its name.

import { createInterface } from 'node:readline';

const [, , name, folder, chromium] = process.argv;
const { createRequire } = await import('node:module');
const library = createRequire(`${folder}/package.json`)(name);
const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];

const isPlaywright = name === 'playwright-core';
const launched = isPlaywright
  ? await library.chromium.launch({ executablePath: chromium, args: sandbox })
  : await library.launch({ executablePath: chromium, args: sandbox, headless: true });
// Playwright's pages live in a context.
const home = isPlaywright ? await launched.newContext() : launched;

const tabs = new Map();
let last = 0;

/** The last round trip of a rate may still be under way at its end: it is not counted. */
async function rate(chosen, script, ms) {
  const begun = performance.now();
  let count = 0;
  await Promise.all(chosen.map(async page => {
    while (performance.now() - begun < ms) {
      await page.evaluate(script);
      count += 1;
    }
  }));
  return count / ((performance.now() - begun) / 1000);
}

const ops = {
  ready: () => name,
  async open({ url }) {
    const page = await home.newPage();
    await page.goto(url);
    tabs.set(++last, page);
    return last;
  },
  async close({ tab }) {
    await tabs.get(tab).close();
    tabs.delete(tab);
  },
  evaluate: ({ tab, script }) => tabs.get(tab).evaluate(script),
  click: ({ tab, selector }) => tabs.get(tab).click(selector),
  fill: ({ tab, selector, text }) =>
    isPlaywright ? tabs.get(tab).fill(selector, text) : tabs.get(tab).locator(selector).fill(text),
  type: ({ tab, selector, text }) =>
    isPlaywright ? tabs.get(tab).locator(selector).pressSequentially(text) : tabs.get(tab).type(selector, text),
  snapshot: async ({ tab }) => isPlaywright
    ? await tabs.get(tab).ariaSnapshot({ mode: 'ai' })
    : JSON.stringify(await tabs.get(tab).accessibility.snapshot({ interestingOnly: false })),
  rate: ({ tabs: chosen, script, ms }) => rate(chosen.map(tab => tabs.get(tab)), script, ms),
};

async function answer({ id, op, args }) {
  const begun = performance.now();
  try {
    const value = await ops[op](args);
    const us = Math.round((performance.now() - begun) * 1000);
    process.stdout.write(`${JSON.stringify({ id, us, value })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ id, error: String(error.message ?? error) })}\n`);
  }
}

createInterface({ input: process.stdin })
  .on('line', line => answer(JSON.parse(line)))
  .on('close', async () => {
    await Promise.race([launched.close(), new Promise(done => setTimeout(done, 2_000))]);
    process.exit(0);
  });
