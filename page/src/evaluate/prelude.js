(deadline, limit, run) => {
  let now;
  try { now = performance.timeOrigin + new Event('').timeStamp; } catch { }
  if (typeof now !== 'number' || now - now !== 0) now = Date.now();
  if (now > deadline) return { t: 'late' };
  const text = (of) => { try { return String(of); } catch { return ''; } };
  // A length over the limit is a size over the limit: no need to encode 100 MiB to know it.
  const bytes = (s) => (s.length * 3 <= limit ? 0 : s.length > limit ? s.length : new TextEncoder().encode(s).length);
  const node = (v) => typeof Node === 'function' && v instanceof Node;
  const plain = function (key, v) {
    const raw = this[key];
    if (typeof v === 'bigint') return `${v}n`;
    if (v === null || typeof v !== 'object') return v;
    if (raw === globalThis) return 'ref: <Window>';
    if (node(raw)) return 'ref: <Node>';
    if (typeof Error === 'function' && raw instanceof Error) return { name: text(raw.name) };
    return v;
  };
  const kinds = [['Date', 'date'], ['RegExp', 'regexp'], ['Map', 'map'], ['Set', 'set'], ['Error', 'error'],
    ['Promise', 'promise'], ['WeakMap', 'weakmap'], ['WeakSet', 'weakset']];
  const kind = (v) => {
    if (Array.isArray(v)) return 'array';
    if (ArrayBuffer.isView(v)) return 'typedarray';
    for (const [name, t] of kinds) if (typeof globalThis[name] === 'function' && v instanceof globalThis[name]) return t;
    return 'object';
  };
  const describe = (v) => {
    const t = v === null ? 'null' : typeof v;
    switch (t) {
      case 'undefined': case 'function': case 'symbol': return { t };
      case 'null': case 'boolean': return { t, v };
      case 'bigint': return { t, u: `${v}n` };
      case 'number':
        return Number.isFinite(v) && !Object.is(v, -0) ? { t, v } : { t, v: v === 0 ? 0 : null, u: Object.is(v, -0) ? '-0' : `${v}` };
      case 'string': {
        const size = bytes(v);
        return size > limit ? { t, why: 'too_large', bytes: size } : { t, v };
      }
    }
    if (v === globalThis) return { t: 'window', v: 'ref: <Window>' };
    if (node(v)) return { t: 'node', v: 'ref: <Node>' };
    const o = kind(v);
    let j;
    try { j = JSON.stringify(v, plain); } catch (e) {
      const cycle = e instanceof TypeError && /circular|cyclic/i.test(text(e.message));
      if (!cycle && !(e instanceof RangeError)) throw e;
      return { t: o, why: cycle ? 'cycle' : 'too_large' };
    }
    if (j === undefined) return { t: o, v: null };
    const size = bytes(j);
    return size > limit ? { t: o, why: 'too_large', bytes: size } : { t: o, j };
  };
  const threw = (e, later) => {
    const of = e !== null && (typeof e === 'object' || typeof e === 'function') ? e : undefined;
    let name = '', message = '', stack = '';
    try { name = of ? text(of.name ?? '') : ''; } catch { }
    try { message = text(of && 'message' in of ? of.message : e); } catch { }
    try { stack = of ? text(of.stack ?? '') : ''; } catch { }
    return { t: 'threw', name: name.slice(0, 256), message: message.slice(0, 8192), stack: stack.slice(0, 8192), later };
  };
  try {
    let v = run();
    if (typeof v === 'function') v = v();
    if (v !== null && typeof v === 'object' && typeof v.then === 'function') {
      return Promise.resolve(v)
        .then((got) => (typeof got === 'function' ? got() : got))
        .then(describe)
        .catch((e) => threw(e, true));
    }
    return describe(v);
  } catch (e) { return threw(e, false); }
}
