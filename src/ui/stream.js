// Server-sent events, by `fetch`: `EventSource` sends no token.

import { ask } from './service.js';

/** After how long it is tried again; every failure doubles it up to the second. */
const RETRY_MS = [1_000, 15_000];

/** Reads events for good. `connected(is)` tells whether it does. */
export async function listen(heard, connected) {
  let wait = RETRY_MS[0];
  for (;;) {
    try {
      const answer = await ask('events');
      connected(true);
      wait = RETRY_MS[0];
      await read(answer.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
    } catch (failure) {
      if (failure.status === 401) return;
    }
    connected(false);
    await new Promise(go => setTimeout(go, wait * (0.75 + Math.random() / 2)));
    wait = Math.min(wait * 2, RETRY_MS[1]);
  }
}

async function read(reader, heard) {
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const event = parsed(part);
      if (event) heard(event);
    }
  }
}

/** `{name, data}` of one; none of a comment. */
function parsed(part) {
  let name = '';
  let data = '';
  for (const line of part.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (!data) return null;
  try {
    return { name, data: JSON.parse(data) };
  } catch {
    return null;
  }
}
