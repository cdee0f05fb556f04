// agent-browser: a command for each action, which talks to a daemon of its session.

import { join } from 'node:path';

import { printed } from './processes.mjs';
import { PATIENCE, Tool } from './tools.mjs';

const SELECTORS = { button: '#press', field: '#field' };

export class AgentBrowser extends Tool {
  constructor(setup) {
    super('agent-browser', 'mcp', setup);
  }

  async begin() {
    // What its package's launcher ends up running, without the start of Node before it.
    const program = `agent-browser-linux-${process.arch}`;
    this.program = join(this.setup.folder, 'node_modules/agent-browser/bin', program);
    this.turn = Promise.resolve();
    await this.run(['open', 'about:blank']);
    this.current = undefined;
  }

  async run(command, patience = PATIENCE) {
    const env = this.env({
      AGENT_BROWSER_SESSION: 'peers',
      AGENT_BROWSER_EXECUTABLE_PATH: this.setup.chromium,
      AGENT_BROWSER_SOCKET_DIR: this.home,
      ...(process.getuid() === 0 ? { AGENT_BROWSER_ARGS: '--no-sandbox' } : {}),
    });
    try {
      const out = await printed(this.program, [...command, '--json'], env, this.home, AbortSignal.timeout(patience));
      return JSON.parse(out);
    } catch (error) {
      throw error.name === 'AbortError' ? Object.assign(new Error(`no answer in ${patience} ms`), { late: true }) : error;
    }
  }

  /** One after the other: each command is about the session's current tab. */
  on(tab, command, patience) {
    const done = this.turn.then(async () => {
      if (tab !== this.current) await this.run(['tab', tab], patience);
      this.current = tab;
      return (await this.run(command, patience)).data;
    });
    this.turn = done.catch(() => {});
    return done;
  }

  async open(url) {
    const { data } = await this.run(['tab', 'new', url]);
    this.current = data.tabId ?? data.id ?? data.tab;
    return { tab: this.current };
  }

  async close(tab, patience) {
    await this.run(['tab', 'close', tab], patience);
    this.current = undefined;
  }

  async evaluate(tab, script, { budget, patience } = {}) {
    return { value: (await this.on(tab, ['eval', script], patience ?? budget)).result };
  }

  click(tab) {
    return this.on(tab, ['click', SELECTORS.button]);
  }

  fill(tab, text) {
    return this.on(tab, ['fill', SELECTORS.field, text]);
  }

  type(tab, text) {
    return this.on(tab, ['type', SELECTORS.field, text]);
  }

  async snapshot(tab) {
    return { text: (await this.on(tab, ['snapshot'])).snapshot };
  }
}
