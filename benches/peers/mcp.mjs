// A client of an MCP server over its standard input and output: as much of the protocol as calling tools needs.

import { createInterface } from 'node:readline';

import { within } from './time.mjs';

export class McpClient {
  #child;
  #waiting = new Map();
  #last = 0;
  #ended = null;

  /** `child` is the server's process. */
  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', line => this.#read(line));
    child.on('exit', code => {
      this.#ended = new Error(`the server ended (${code})`);
      for (const { fail } of this.#waiting.values()) fail(this.#ended);
    });
  }

  async begin() {
    const answer = await within(30_000, this.#ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'peers', version: '1' },
    }).answer);
    this.#send({ method: 'notifications/initialized' });
    return answer.serverInfo;
  }

  async tools() {
    return (await within(30_000, this.#ask('tools/list', {}).answer)).tools;
  }

  /** The result of a tool. After `patience` ms the server is told that nobody waits any more. */
  async call(name, args, patience) {
    const { id, answer } = this.#ask('tools/call', { name, arguments: args });
    let result;
    try {
      result = await within(patience, answer);
    } catch (error) {
      if (error.late) {
        this.#waiting.delete(id);
        this.#send({ method: 'notifications/cancelled', params: { requestId: id, reason: 'late' } });
      }
      throw error;
    }
    const text = (result.content ?? []).map(it => it.text ?? '').join('\n');
    if (result.isError) throw new Error(`${name}: ${text.slice(0, 400)}`);
    return { text, data: result.structuredContent };
  }

  #ask(method, params) {
    const id = ++this.#last;
    const answer = new Promise((done, fail) => {
      if (this.#ended) throw this.#ended;
      this.#waiting.set(id, { done, fail });
    });
    this.#send({ id, method, params });
    return { id, answer };
  }

  #send(message) {
    if (!this.#ended) this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #read(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message.method && message.id !== undefined) {
      // Of what a server may ask, only the simplest things are answered.
      this.#send({ id: message.id, result: message.method === 'roots/list' ? { roots: [] } : {} });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    if (message.error) waiting.fail(new Error(message.error.message));
    else waiting.done(message.result);
  }
}
