(deadline, limit, run, el) => {
  let now;
  try { now = performance.timeOrigin + new Event('').timeStamp; } catch { }
  try { if (!(now > 0)) now = Date.now(); } catch { }
  // The page may have put anything on Object.prototype, a `then` too.
  if (now > deadline) return { __proto__: null, t: 'late' };
  if (el !== undefined && !(el.isConnected && el.ownerDocument === document)) return { __proto__: null, t: 'detached' };
  const call = (f) => (el === undefined ? f() : f(el));
  const text = (of) => { try { return String(of); } catch { return ''; } };
  // A length over the limit is a size over the limit: no need to encode 100 MiB to know it.
  const bytes = (s) => (s.length * 3 <= limit ? 0 : s.length > limit ? s.length : new TextEncoder().encode(s).length);
  const node = (v) => { try { return v instanceof Node; } catch { return false; } };
  // What JSON would mix up inside of a value, as text.
  const lost = (v) => {
    switch (typeof v) {
      case 'number': return v - v !== 0 ? `${v}` : v === 0 && 1 / v < 0 ? '-0' : undefined;
      case 'bigint': return `${v}n`;
      case 'undefined': case 'function': case 'symbol': return typeof v;
    }
  };
  let loses = false;
  const plain = function (key, v) {
    const raw = this[key];
    if (lost(v) !== undefined) loses = true;
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
    for (let i = 0; i < kinds.length; i++) {
      try { if (v instanceof globalThis[kinds[i][0]]) return kinds[i][1]; } catch { }
    }
    return 'object';
  };
  // Where they are, as JSON pointers; at most so many, and not beyond so many values.
  const losses = (of) => {
    const found = [], seen = new Set(), open = [[of, '']];
    for (let left = 100000; open.length > 0 && found.length < 200 && left > 0;) {
      const [v, path] = open.pop();
      if (seen.has(v)) continue;
      seen.add(v);
      for (const key of Object.keys(v)) {
        if (left-- <= 0 || found.length >= 200) break;
        const inner = v[key], at = `${path}/${key.slice(0, 200).replace(/~/g, '~0').replace(/[/]/g, '~1')}`;
        const what = lost(inner);
        if (what !== undefined) found.push([at, what]);
        else if (inner !== null && typeof inner === 'object' && !node(inner) && inner !== globalThis && typeof inner.toJSON !== 'function') open.push([inner, at]);
      }
    }
    return found;
  };
  const describe = (v) => {
    const t = v === null ? 'null' : typeof v;
    switch (t) {
      case 'undefined': case 'function': case 'symbol': return { __proto__: null, t };
      case 'null': case 'boolean': return { __proto__: null, t, v };
      case 'bigint': return { __proto__: null, t, u: `${v}n` };
      case 'number':
        if (v === 0) return 1 / v > 0 ? { __proto__: null, t, v } : { __proto__: null, t, v, u: '-0' };
        return v - v === 0 ? { __proto__: null, t, v } : { __proto__: null, t, v: null, u: `${v}` };
      case 'string': {
        const size = bytes(v);
        return size > limit ? { __proto__: null, t, why: 'too_large', bytes: size } : { __proto__: null, t, v };
      }
    }
    if (v === globalThis) return { __proto__: null, t: 'window', v: 'ref: <Window>' };
    if (node(v)) return { __proto__: null, t: 'node', v: 'ref: <Node>' };
    const o = kind(v);
    let j;
    try { j = JSON.stringify(v, plain); } catch (e) {
      const cycle = e instanceof TypeError && /circular|cyclic/i.test(text(e.message));
      if (!cycle && !(e instanceof RangeError)) throw e;
      return { __proto__: null, t: o, why: cycle ? 'cycle' : 'too_large' };
    }
    if (j === undefined) return { __proto__: null, t: o, v: null };
    const size = bytes(j);
    if (size > limit) return { __proto__: null, t: o, why: 'too_large', bytes: size };
    return loses ? { __proto__: null, t: o, j, at: losses(v) } : { __proto__: null, t: o, j };
  };
  const threw = (e, later) => {
    const of = e !== null && (typeof e === 'object' || typeof e === 'function') ? e : undefined;
    let name = '', message = '', stack = '';
    try { name = of ? text(of.name ?? '') : ''; } catch { }
    try { message = text(of && 'message' in of ? of.message : e); } catch { }
    try { stack = of ? text(of.stack ?? '') : ''; } catch { }
    return { __proto__: null, t: 'threw', name: name.slice(0, 256), message: message.slice(0, 8192), stack: stack.slice(0, 8192), later };
  };
  try {
    let v = call(run);
    if (typeof v === 'function') v = call(v);
    if (v !== null && typeof v === 'object' && typeof v.then === 'function') {
      return (async () => {
        try {
          let got = await v;
          if (typeof got === 'function') got = await call(got);
          return describe(got);
        } catch (e) { return threw(e, true); }
      })();
    }
    return describe(v);
  } catch (e) { return threw(e, false); }
}
