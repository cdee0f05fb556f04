// tabvisor over HTTP, as its clients use it: `tabvisor serve`, connections that are kept.

import { Agent, request } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { within, rest } from './time.mjs';
import { PATIENCE, Tool } from './tools.mjs';

const SELECTORS = { button: '#press', field: '#field' };

export class Http extends Tool {
  constructor(setup) {
    super('tabvisor HTTP', 'library', setup);
  }

  async begin() {
    const ready = join(this.home, 'ready.json');
    const args = ['serve', '--listen', '127.0.0.1:0', '--ready-file', ready, '--chromium', this.setup.chromium];
    const child = this.child(this.setup.tabvisor, args);
    child.stdout.resume();
    await within(PATIENCE, (async () => {
      while (!existsSync(ready)) {
        if (child.exitCode !== null) throw new Error('the service ended');
        await rest(20);
      }
    })());
    const { url, tokenFile } = JSON.parse(readFileSync(ready, 'utf8'));
    this.url = url;
    this.agent = new Agent({ keepAlive: true });
    this.headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`, 'content-type': 'application/json' };
  }

  ask(method, path, body, patience = PATIENCE) {
    return within(patience, new Promise((done, fail) => {
      const asked = request(`${this.url}${path}`, { method, agent: this.agent, headers: this.headers }, answer => {
        let text = '';
        answer.setEncoding('utf8').on('data', it => { text += it; }).on('error', fail).on('end', () => {
          if (answer.statusCode === 200) done(JSON.parse(text));
          else fail(new Error(text.slice(0, 400)));
        });
      });
      asked.on('error', fail);
      asked.end(body && JSON.stringify(body));
    }));
  }

  act(tab, kind, more, patience) {
    return this.ask('POST', '/act', { kind, targetId: tab, ...more }, patience);
  }

  async open(url) {
    return { tab: (await this.ask('POST', '/tabs/open', { url })).tabId };
  }

  close(tab, patience) {
    return this.ask('DELETE', `/tabs/${tab}`, undefined, patience);
  }

  async evaluate(tab, script, { budget, patience } = {}) {
    const { result } = await this.act(tab, 'evaluate', { fn: script, timeoutMs: budget }, patience);
    return { value: result };
  }

  click(tab) {
    return this.act(tab, 'click', { selector: SELECTORS.button });
  }

  fill(tab, text) {
    return this.act(tab, 'type', { selector: SELECTORS.field, text });
  }

  /** `slowly` rests between the keys, as its contract says, and so would measure that rest. */
  type(tab, text) {
    return this.act(tab, 'type', { selector: SELECTORS.field, text, mode: 'keystrokes' });
  }

  async snapshot(tab) {
    return { text: (await this.ask('GET', `/snapshot?targetId=${tab}&maxChars=0`)).snapshot };
  }

  stop() {
    this.agent?.destroy();
    return super.stop();
  }
}
