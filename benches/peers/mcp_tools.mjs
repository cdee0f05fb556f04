// The MCP servers, each started as its own documentation says.

import { join } from 'node:path';

import { McpClient } from './mcp.mjs';
import { PATIENCE, Tool } from './tools.mjs';

const AS_ROOT = process.getuid() === 0;

class Mcp extends Tool {
  constructor(name, setup) {
    super(name, 'mcp', setup);
  }

  async serve(program, args) {
    this.client = new McpClient(this.child(program, args));
    await this.client.begin();
  }

  call(name, args, patience = PATIENCE) {
    return this.client.call(name, args, patience);
  }
}

/** The ref of the line that names what is looked for. */
const refIn = (text, line, ref) => {
  const found = text.split('\n').find(it => line.test(it))?.match(ref)?.[1];
  if (!found) throw new Error(`no ${line} in the snapshot: ${text.slice(0, 300)}`);
  return found;
};

/** The value of a script as a server prints it. */
const valueIn = found => (!found || found[1] === 'undefined' ? undefined : JSON.parse(found[1]));

/** As the servers take scripts: functions. */
const asFunction = script => `() => { ${script.includes(';') ? script : `return ${script}`} }`;

export class Ours extends Mcp {
  constructor(setup) {
    super('tabvisor MCP', setup);
  }

  async begin() {
    await this.serve(this.setup.tabvisor, ['mcp', '--chromium', this.setup.chromium]);
    await this.call('browser_tabs', { action: 'list' });
  }

  async open(url) {
    const { data } = await this.call('browser_tabs', { action: 'open', url });
    return { tab: data.tab_id ?? data.tab?.tab_id ?? data.observed?.tab_id };
  }

  close(tab, patience) {
    return this.call('browser_tabs', { action: 'close', tab_id: tab }, patience);
  }

  async evaluate(tab, script, { budget, patience } = {}) {
    const args = { tab_id: tab, function: script, timeout_ms: budget };
    const { data } = await this.call('browser_evaluate', args, patience);
    return { value: data.observed?.value ?? data.value };
  }

  async prepare(tab) {
    const { text } = await this.snapshot(tab);
    this.refs = { button: refIn(text, /press me/, /ref=(\w+)/), field: refIn(text, /textbox/, /ref=(\w+)/) };
  }

  click(tab) {
    return this.call('browser_click', { tab_id: tab, ref: this.refs.button });
  }

  fill(tab, text) {
    return this.call('browser_type', { tab_id: tab, ref: this.refs.field, text, replace: true });
  }

  type(tab, text) {
    return this.call('browser_type', { tab_id: tab, ref: this.refs.field, text, mode: 'keystrokes' });
  }

  async snapshot(tab) {
    const { text } = await this.call('get_browser_state', { tab_id: tab, max_chars: 200_000 });
    return { text };
  }
}

export class PlaywrightMcp extends Mcp {
  constructor(setup) {
    super('@playwright/mcp', setup);
    /** Its tabs have no names but their places in a list; one of them is the current one. */
    this.tabs = [];
    this.turn = Promise.resolve();
  }

  async begin() {
    this.tabs = [];
    const cli = join(this.setup.folder, 'node_modules/@playwright/mcp/cli.js');
    const flags = ['--headless', '--isolated', '--executable-path', this.setup.chromium];
    await this.serve(process.execPath, [cli, ...flags, ...(AS_ROOT ? ['--no-sandbox'] : [])]);
    await this.call('browser_tabs', { action: 'list' });
    // It begins with a blank tab.
    this.tabs = [0];
    this.current = 0;
    this.last = 0;
  }

  /** One after the other: each call is about the current tab. */
  on(tab, work) {
    const done = this.turn.then(async () => {
      if (tab !== this.current) {
        await this.call('browser_tabs', { action: 'select', index: this.tabs.indexOf(tab) });
        this.current = tab;
      }
      return work();
    });
    this.turn = done.catch(() => {});
    return done;
  }

  async open(url) {
    await this.call('browser_tabs', { action: 'new', url });
    const tab = ++this.last;
    this.tabs.push(tab);
    this.current = tab;
    return { tab };
  }

  async close(tab, patience) {
    await this.call('browser_tabs', { action: 'close', index: this.tabs.indexOf(tab) }, patience);
    this.tabs = this.tabs.filter(it => it !== tab);
    this.current = undefined;
  }

  evaluate(tab, script, { budget, patience } = {}) {
    return this.on(tab, async () => {
      const { text } = await this.call('browser_evaluate', { function: asFunction(script) }, patience ?? budget);
      return { value: valueIn(/### Result\s+(.*?)(\n|$)/s.exec(text)) };
    });
  }

  async prepare(tab) {
    const { text } = await this.snapshot(tab);
    this.refs = { button: refIn(text, /press me/, /\[ref=(\w+)\]/), field: refIn(text, /textbox/, /\[ref=(\w+)\]/) };
  }

  click(tab) {
    return this.on(tab, () => this.call('browser_click', { element: 'the button', target: this.refs.button }));
  }

  fill(tab, text) {
    return this.on(tab, () => this.call('browser_type', { element: 'the field', target: this.refs.field, text }));
  }

  type(tab, text) {
    const args = { element: 'the field', target: this.refs.field, text, slowly: true };
    return this.on(tab, () => this.call('browser_type', args));
  }

  snapshot(tab) {
    return this.on(tab, () => this.call('browser_snapshot', {}));
  }
}

export class DevToolsMcp extends Mcp {
  constructor(setup) {
    super('chrome-devtools-mcp', setup);
  }

  async begin() {
    const cli = join(this.setup.folder, 'node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js');
    const flags = ['--headless', '--isolated', '--executablePath', this.setup.chromium, '--no-usage-statistics'];
    await this.serve(process.execPath, [cli, ...flags, ...(AS_ROOT ? ['--chromeArg=--no-sandbox'] : [])]);
    await this.call('list_pages', {});
  }

  async open(url) {
    const { text } = await this.call('new_page', { url });
    const pages = [...text.matchAll(/^(\d+): .*$/gm)];
    const tab = Number((pages.find(it => /\[selected\]/.test(it[0])) ?? pages.at(-1))[1]);
    return { tab };
  }

  close(tab, patience) {
    return this.call('close_page', { pageId: tab }, patience);
  }

  async evaluate(tab, script, { budget, patience } = {}) {
    const { text } = await this.call('evaluate_script', { pageId: tab, function: asFunction(script) }, patience ?? budget);
    return { value: valueIn(/```json\s+(.*?)\s+```/s.exec(text)) };
  }

  async prepare(tab) {
    const { text } = await this.snapshot(tab);
    this.refs = { button: refIn(text, /press me/, /uid=(\w+)/), field: refIn(text, /textbox/, /uid=(\w+)/) };
  }

  click(tab) {
    return this.call('click', { pageId: tab, uid: this.refs.button });
  }

  fill(tab, text) {
    return this.call('fill', { pageId: tab, uid: this.refs.field, value: text });
  }

  /** It types where the focus is; the row's page has it in the field. */
  type(tab, text) {
    return this.call('type_text', { pageId: tab, text });
  }

  snapshot(tab) {
    return this.call('take_snapshot', { pageId: tab });
  }
}
