// A child that reads one JSON request a line and answers each with one line, in any order, with the
// microseconds that it measured itself.

import { createInterface } from 'node:readline';

import { within } from './time.mjs';

export class Lines {
  #child;
  #waiting = new Map();
  #last = 0;

  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', line => {
      const { id, us, value, error } = JSON.parse(line);
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      this.#waiting.delete(id);
      if (error === undefined) waiting.done({ us, value });
      else waiting.fail(new Error(error));
    });
    child.on('exit', code => {
      for (const { fail } of this.#waiting.values()) fail(new Error(`the child ended (${code})`));
    });
  }

  ask(op, args, patience) {
    const id = ++this.#last;
    const answer = new Promise((done, fail) => this.#waiting.set(id, { done, fail }));
    this.#child.stdin.write(`${JSON.stringify({ id, op, args })}\n`);
    return within(patience, answer);
  }
}
