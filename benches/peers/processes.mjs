// The processes of the tools: started with a mark in their environment, found by it, measured, and ended.

import { execFile, spawn } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

import { rest } from './time.mjs';

const MARK = 'PEERS_RUN';
/** Nobody else's run has this. */
const RUN = `${process.pid}-${Date.now()}`;

const markOf = owner => `${RUN}/${owner}`;

/** The environment of a tool's processes: little, and the mark of `owner`. */
export function environment(owner, home, more = {}) {
  const { PATH, LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home, TMPDIR: home, [MARK]: markOf(owner), ...more };
}

/** A child with pipes, whose complaints go to `log`. */
export function started(program, args, env, cwd, log) {
  const child = spawn(program, args, { env, cwd, stdio: ['pipe', 'pipe', log] });
  child.stdin.on('error', () => {});
  child.on('error', error => console.error(`${program}: ${error.message}`));
  return child;
}

/** What a command prints; rejects if it fails or is ended by `signal`. */
export function printed(program, args, env, cwd, signal) {
  return new Promise((done, fail) => {
    execFile(program, args, { env, cwd, signal, maxBuffer: 1 << 26 }, (error, out, err) => {
      if (error) fail(error.name === 'AbortError' ? error : new Error(`${out}${err}`.trim() || error.message));
      else done(out);
    });
  });
}

/** The ids of living processes that carry the mark of `owner`, or of anybody in this run. */
export function marked(owner) {
  const mark = owner === undefined ? `${MARK}=${RUN}/` : `${MARK}=${markOf(owner)}\0`;
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return `${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`.includes(mark);
    } catch {
      return false;
    }
  }).map(Number);
}

const isBrowser = pid => {
  try {
    return /chrom(e|ium)[^/]*$/.test(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return true;
  }
};

/** Resident memory in MB of the tool's own processes, without those of its Chromium. */
export function memory(owner) {
  let kb = 0;
  for (const pid of marked(owner)) {
    if (isBrowser(pid)) continue;
    try {
      kb += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It ended meanwhile.
    }
  }
  return kb / 1024;
}

/** Ends what is left of a tool, or of all tools, and returns when none is there. */
export async function ended(owner) {
  for (let round = 0; round < 200; round++) {
    const left = marked(owner);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, round < 10 ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
    }
    await rest(50);
  }
}
