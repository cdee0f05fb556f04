// The rows: what each tool is asked to do. A row gives samples, keyed by the lines of the table that
// they belong to. What is verified is verified outside the measured time.

import { Cannot } from './tools.mjs';
import { rest, timed, within } from './time.mjs';

const TEXT = 'the quick brown fox jumps over a lazy dog and then runs on, '.repeat(2).slice(0, 100);
const BUDGET = { budget: 20_000 };

/** The lines of the table. `lower` is better in all of them but where `higher` is said. */
export const LINES = [
  { key: 'evaluate', label: 'evaluate `1 + 1`, median', unit: 'ms' },
  { key: 'evaluate', label: 'evaluate `1 + 1`, p95', unit: 'ms', of: 'p95' },
  { key: 'rate1', label: 'evaluates a second, 1 tab', unit: '/s', higher: true },
  { key: 'rate4', label: 'evaluates a second, 4 tabs', unit: '/s', higher: true },
  { key: 'rate16', label: 'evaluates a second, 16 tabs', unit: '/s', higher: true },
  { key: 'click', label: 'click, seen by the page', unit: 'ms' },
  { key: 'fill', label: 'fill in 100 characters at once', unit: 'ms' },
  { key: 'type', label: 'type 100 characters key by key', unit: 'ms' },
  { key: 'snapshot1000', label: 'snapshot of 1,000 nodes', unit: 'ms' },
  { key: 'snapshot10000', label: 'snapshot of 10,000 nodes', unit: 'ms' },
  { key: 'open', label: 'open a tab', unit: 'ms' },
  { key: 'close', label: 'close a tab', unit: 'ms' },
  { key: 'runaway', label: 'the tab usable again after `while (true) {}`, 1 s of patience', unit: 'ms' },
  { key: 'replaced', label: 'the stuck tab closed and another one usable', unit: 'ms' },
  { key: 'sibling0', label: 'evaluate beside 0 stuck tabs', unit: 'ms' },
  { key: 'sibling5', label: 'evaluate beside 5 stuck tabs', unit: 'ms' },
  { key: 'sibling20', label: 'evaluate beside 20 stuck tabs', unit: 'ms' },
  { key: 'memory1', label: 'memory of the tool with 1 tab', unit: 'MB' },
  { key: 'memory16', label: 'memory of the tool with 16 tabs', unit: 'MB' },
];

/** At least one sample, and then as many as `ms` and `most` allow. */
async function sampled(ms, most, work) {
  const samples = [];
  const until = performance.now() + ms;
  do samples.push(await work());
  while (samples.length < most && performance.now() < until);
  return samples;
}

async function expect(tool, tab, script, wanted) {
  const { value } = await tool.evaluate(tab, script, BUDGET);
  if (value !== wanted) throw new Error(`${script} is ${JSON.stringify(value)} and not ${JSON.stringify(wanted)}`);
}

async function onTab(tool, url, work) {
  const { tab } = await tool.open(url);
  try {
    return await work(tab);
  } finally {
    await tool.close(tab, 10_000);
  }
}

const evaluate = (pages, { chunk }) => tool => onTab(tool, pages.url('/blank'), async tab => {
  for (let warm = 0; warm < 3; warm++) await expect(tool, tab, '1 + 1', 2);
  const samples = await sampled(chunk, 200, async () => {
    const { ms, result } = await timed(() => tool.evaluate(tab, '1 + 1', BUDGET));
    if (result.value !== 2) throw new Error(`1 + 1 is ${result.value}`);
    return ms;
  });
  return { evaluate: samples, memory1: [tool.memory()] };
});

/** One caller a tab, for a while. Tools with a program of their own count there. */
async function rate(tool, tabs, ms) {
  if (tool.rate) return tool.rate(tabs, '1 + 1', ms);
  const begun = performance.now();
  let count = 0;
  await Promise.all(tabs.map(async tab => {
    while (performance.now() - begun < ms) {
      await tool.evaluate(tab, '1 + 1', BUDGET);
      count += 1;
    }
  }));
  return count / ((performance.now() - begun) / 1000);
}

const rates = (pages, { chunk }) => async tool => {
  const tabs = [];
  const samples = {};
  try {
    for (const many of [1, 4, 16]) {
      while (tabs.length < many) tabs.push((await tool.open(pages.url('/blank'))).tab);
      await rate(tool, tabs, 50);
      samples[`rate${many}`] = [await rate(tool, tabs, chunk)];
    }
    samples.memory16 = [tool.memory()];
  } finally {
    for (const tab of tabs) await tool.close(tab, 10_000);
  }
  return samples;
};

const click = (pages, { chunk }) => tool => onTab(tool, pages.url('/form'), async tab => {
  await tool.prepare(tab);
  await tool.click(tab);
  let clicks = 1;
  const samples = await sampled(chunk, 30, async () => {
    clicks += 1;
    return (await timed(() => tool.click(tab))).ms;
  });
  await expect(tool, tab, 'window.clicks', clicks);
  return { click: samples };
});

const VALUE = 'document.getElementById("field").value';
const EMPTY = 'void (document.getElementById("field").value = "")';
const FOCUS = 'document.getElementById("field").focus()';

const write = (pages, { chunk }, verb) => tool => onTab(tool, pages.url('/form'), async tab => {
  await tool.prepare(tab);
  await tool[verb](tab, TEXT);
  const samples = await sampled(chunk, 15, async () => {
    await tool.evaluate(tab, EMPTY, BUDGET);
    await tool.evaluate(tab, FOCUS, BUDGET);
    const { ms } = await timed(() => tool[verb](tab, TEXT));
    await expect(tool, tab, VALUE, TEXT);
    return ms;
  });
  return { [verb]: samples };
});

const snapshot = (pages, { chunk }, nodes, last) => tool => onTab(tool, pages.url(`/nodes/${nodes}`), async tab => {
  await tool.snapshot(tab);
  const samples = await sampled(chunk, 10, async () => {
    const { ms, result } = await timed(() => tool.snapshot(tab));
    if (!result.text.includes(`button ${last}`)) throw new Cannot(`its snapshot of ${result.text.length} characters ends before the last node: ${JSON.stringify(result.text.slice(-80))}`);
    return ms;
  });
  return { [`snapshot${nodes}`]: samples };
});

const openAndClose = (pages, { chunk }) => async tool => {
  const samples = { open: [], close: [] };
  await onTab(tool, pages.url('/blank'), () => {});
  await sampled(chunk, 5, async () => {
    const opened = await timed(() => tool.open(pages.url('/blank')));
    samples.open.push(opened.ms);
    await expect(tool, opened.result.tab, '1 + 1', 2);
    samples.close.push((await timed(() => tool.close(opened.result.tab, 10_000))).ms);
  });
  return samples;
};

/** Until a tab answers, or `until`; what the tool says meanwhile counts as no answer. */
async function usable(tool, tab, until) {
  let said = 'no answer';
  while (performance.now() < until) {
    try {
      const left = Math.ceil(until - performance.now());
      const { value } = await tool.evaluate(tab, '1 + 1', { budget: Math.min(left, 20_000), patience: left });
      if (value === 2) return undefined;
      said = `1 + 1 is ${value}`;
    } catch (error) {
      said = error.message;
    }
    await rest(20);
  }
  return said.split('\n')[0].slice(0, 120);
}

/** After this many ms, a tool that has not answered counts as one that never does. */
const runaway = (pages, { cap }) => async tool => {
  const { tab } = await tool.open(pages.url('/blank'));
  const begun = performance.now();
  await tool.evaluate(tab, 'while (true) {};', { budget: 1_000, patience: tool.budgeted ? 3_000 : undefined }).catch(() => {});
  const said = await usable(tool, tab, begun + cap);
  if (said !== undefined) return { runaway: [{ never: cap, said }] };
  const took = performance.now() - begun;
  await tool.close(tab, 10_000);
  return { runaway: [took] };
};

const replaced = (pages, { cap }) => async tool => {
  const { tab } = await tool.open(pages.elsewhere('/loop'));
  await rest(1_200);
  const begun = performance.now();
  const never = said => ({ replaced: [{ never: cap, said: said.split('\n')[0].slice(0, 120) }] });
  try {
    await tool.close(tab, cap);
    const left = Math.max(1, cap - (performance.now() - begun));
    const opened = await within(left, tool.open(pages.url('/blank')));
    const said = await usable(tool, opened.tab, begun + cap);
    return said === undefined ? { replaced: [performance.now() - begun] } : never(said);
  } catch (error) {
    return never(error.message);
  }
};

const siblings = (pages, { chunk, cap }) => async tool => {
  const samples = {};
  const { tab } = await tool.open(pages.url('/blank'));
  let stuck = 0;
  for (const many of [0, 5, 20]) {
    const key = `sibling${many}`;
    try {
      for (; stuck < many; stuck++) {
        await within(cap, tool.open(pages.elsewhere('/stuck', stuck)));
      }
      await rest(1_000);
      const first = await timed(() => tool.evaluate(tab, '1 + 1', { budget: cap, patience: cap }));
      samples[key] = [first.ms, ...await sampled(chunk, 50, async () =>
        (await timed(() => tool.evaluate(tab, '1 + 1', { budget: cap, patience: cap }))).ms)];
    } catch (error) {
      samples[key] = [{ never: cap, said: error.message.split('\n')[0].slice(0, 120) }];
      // What a tool cannot do beside five it cannot do beside twenty.
      if (many === 5) samples.sibling20 = samples[key];
      break;
    }
  }
  return samples;
};

/** The rows of one browser for each tool, that all tools take in turn. */
export const together = (pages, effort) => [
  ['evaluate', evaluate(pages, effort)],
  ['click', click(pages, effort)],
  ['fill', write(pages, effort, 'fill')],
  ['type', write(pages, effort, 'type')],
  ['snapshot1000', snapshot(pages, effort, 1_000, 333)],
  ['snapshot10000', snapshot(pages, effort, 10_000, 3_333)],
  ['tabs', openAndClose(pages, effort)],
  ['rates', rates(pages, effort)],
];

/** The rows after which a browser may be of no use: each tool has a new one for them, and the machine. */
export const alone = (pages, effort) => [
  ['runaway', runaway(pages, effort)],
  ['replaced', replaced(pages, effort)],
  ['siblings', siblings(pages, effort)],
];
