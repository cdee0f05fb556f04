// Time: how long something took, and how long anybody waits for it.

/** Rejects with an error whose `late` is true if `promise` takes longer than `ms`. */
export async function within(ms, promise) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(Object.assign(new Error(`no answer in ${ms} ms`), { late: true })), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long `work` took, in milliseconds. A result with a `us` of its own is believed. */
export async function timed(work) {
  const begun = performance.now();
  const result = await work();
  const took = performance.now() - begun;
  return { ms: typeof result?.us === 'number' ? result.us / 1000 : took, result };
}

export const rest = ms => new Promise(done => setTimeout(done, ms));
