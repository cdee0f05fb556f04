// The service as the page calls it: same origin, the token in a header, and an end to each wait.

const KEPT = 'tabvisor.token';
/** A browser opens six connections to a service: one is for events, and some must stay free for looking. */
const MOST_AT_WORK = 3;

let token = null;
let working = 0;
const waiting = [];

/** A call that was refused or failed. */
export class Failure extends Error {
  constructor(message, status, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** Takes the token from the address, which does not keep it, or from this browser tab's memory. */
export function findToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given !== null) {
    history.replaceState(null, '', location.pathname + location.search);
    keepToken(given);
  }
  token = sessionStorage.getItem(KEPT);
  return token;
}

export function keepToken(given) {
  token = given;
  if (given === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, given);
}

/** Asks; the answer as it comes. */
export async function ask(path, { method = 'GET', body, signal } = {}) {
  const headers = {};
  // A header takes bytes only; what is none is no token of ours.
  if (token !== null) headers.authorization = `Bearer ${encodable(token)}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(path, {
    method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
    cache: 'no-store', credentials: 'omit', redirect: 'error',
  });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Failure(told.error ?? `the service answered ${answer.status}`, answer.status, told);
}

const encodable = text => text.replace(/[^\x21-\x7e]/g, '?');

/** What is known, soon or not at all. */
export async function look(path, ms = 10_000) {
  return (await ask(path, { signal: AbortSignal.timeout(ms) })).json();
}

/** Work on a tab. Some at a time; the others wait here. */
export async function work(method, path, profile, body = {}) {
  if (working >= MOST_AT_WORK) await new Promise(go => waiting.push(go));
  working += 1;
  try {
    const query = profile ? `?profile=${encodeURIComponent(profile)}` : '';
    return await (await ask(path + query, { method, body })).json();
  } finally {
    working -= 1;
    waiting.shift()?.();
  }
}
