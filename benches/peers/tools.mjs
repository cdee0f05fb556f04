// The tools, each behind the same few verbs. `patience` is how long the driver waits; a `budget` goes to
// tools that have one. Elements are the button and the field of the form.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Lines } from './lines.mjs';
import { ended, environment, memory, started } from './processes.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
export const PATIENCE = 30_000;
const SELECTORS = { button: '#press', field: '#field' };

/** A tool cannot do this at all, and why. */
export class Cannot extends Error {}

/** What all tools share: a home of their own, and an end that leaves nothing. */
export class Tool {
  constructor(name, group, setup) {
    Object.assign(this, { name, group, setup });
  }

  async start() {
    this.owner = `${this.name}-${process.hrtime.bigint()}`;
    this.home = mkdtempSync(join(tmpdir(), 'tabvisor-peers-'));
    this.log = openSync(join(this.home, 'log'), 'a');
    try {
      await this.begin();
    } catch (error) {
      const said = readFileSync(join(this.home, 'log'), 'utf8').slice(-500);
      await this.stop();
      throw new Error(`${error.message} ${said}`.trim());
    }
  }

  env(more) {
    const root = process.getuid() === 0 ? { TABVISOR_NO_SANDBOX: '1' } : {};
    return environment(this.owner, this.home, { ...root, ...more });
  }

  child(program, args, more) {
    this.process = started(program, args, this.env(more), this.home, this.log);
    return this.process;
  }

  memory() {
    return memory(this.owner);
  }

  /** Nothing to prepare, unless a tool names elements by refs. */
  async prepare() {}

  /** Ends it with everything that it started. */
  async stop() {
    const { home, log } = this;
    if (!home) return;
    // Twice at once, where a signal comes during an end.
    this.home = undefined;
    this.process?.stdin.end();
    await ended(this.owner);
    closeSync(log);
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** A Rust crate or a Node library, in a process of its own that is driven by lines. */
class InProcess extends Tool {
  constructor(name, program, budgeted) {
    super(name, 'library', undefined);
    Object.assign(this, { program, budgeted });
  }

  async begin() {
    const [program, ...args] = this.program;
    this.lines = new Lines(this.child(program, args));
    await this.ask('ready', {});
  }

  ask(op, args, patience = PATIENCE) {
    return this.lines.ask(op, args, patience);
  }

  async open(url) {
    const { us, value } = await this.ask('open', { url });
    return { us, tab: value };
  }

  close = (tab, patience) => this.ask('close', { tab }, patience);
  evaluate = (tab, script, { budget, patience } = {}) =>
    this.ask('evaluate', { tab, script, ...(this.budgeted ? { ms: budget } : {}) }, patience ?? budget);
  click = tab => this.ask('click', { tab, selector: SELECTORS.button });
  fill = (tab, text) => this.ask('fill', { tab, selector: SELECTORS.field, text });
  type = (tab, text) => this.ask('type', { tab, selector: SELECTORS.field, text });

  async snapshot(tab) {
    const { us, value } = await this.ask('snapshot', { tab });
    return { us, text: typeof value === 'string' ? value : JSON.stringify(value) };
  }

  async rate(tabs, script, ms) {
    return (await this.ask('rate', { tabs, script, ms }, ms + PATIENCE)).value;
  }
}

export const crate = setup => new InProcess('tabvisor crate', [setup.crate, setup.chromium], true);

export const library = (name, setup) =>
  new InProcess(name, [process.execPath, join(HERE, 'library.mjs'), name, setup.folder, setup.chromium], false);
