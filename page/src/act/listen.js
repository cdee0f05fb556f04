// Hears which element gets an event, ahead of the page and unseen by it.
const listen = async (it, { key, types, last, left }) => {
  const all = globalThis.tabvisorHeard ??= new Map();
  all.get(key)?.stop();
  const root = rootOf(it);
  // From the window a closed shadow tree is only its host.
  const places = root instanceof ShadowRoot ? [window, root] : [window];
  const heard = { records: [] };
  const done = new Promise(finish => heard.finish = finish);
  const judge = target => {
    const hit = target instanceof Element ? target : document.documentElement;
    const hosts = [];
    for (let at = root; at instanceof ShadowRoot; at = rootOf(at.host)) hosts.push(at.host);
    return { hit: words(hit), received: takes(it, hit) || (hosts.includes(hit) ? null : false) };
  };
  const hear = event => {
    const known = heard.records.find(record => record.event === event);
    const judged = judge(event.composedPath()[0]);
    if (known) Object.assign(known, judged);
    else if (heard.records.length < 50) heard.records.push({ event, type: event.type, ...judged });
    if (event.type === last) heard.finish();
  };
  const each = change => { for (const place of places) for (const type of types) change(place, type) };
  each((place, type) => EventTarget.prototype.addEventListener.call(place, type, hear, { capture: true, passive: true }));
  heard.stop = () => {
    each((place, type) => EventTarget.prototype.removeEventListener.call(place, type, hear, { capture: true }));
    heard.finish();
    if (all.get(key) === heard) all.delete(key);
  };
  heard.last = last;
  setTimeout(heard.stop, left);
  all.set(key, heard);
  await done;
  return summary(heard);
};
const summary = heard => {
  const records = heard?.records ?? [];
  const wanted = records.findLast(record => record.type === heard.last) ?? records.at(-1);
  return {
    events: records.map(record => record.type),
    prevented: records.filter(record => record.event.defaultPrevented).map(record => record.type),
    complete: wanted?.type === heard?.last && !!wanted,
    ...(wanted && { hit: wanted.hit, received: wanted.received, isTrusted: wanted.event.isTrusted, defaultPrevented: wanted.event.defaultPrevented }),
  };
};
const readBack = async (it, { key }) => {
  const heard = globalThis.tabvisorHeard?.get(key);
  // What the page does at once it has done by then.
  await pause(0);
  const said = { heard: summary(heard), state: stateOf(it) };
  heard?.stop();
  return said;
};
const soFar = (it, { key }) => summary(globalThis.tabvisorHeard?.get(key));
