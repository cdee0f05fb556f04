// Prometheus text, as far as the charts need it.

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** All samples by their names: `{labels, value}`. */
export function parsed(text) {
  const all = new Map();
  for (const line of text.split('\n')) {
    const found = line[0] === '#' ? null : LINE.exec(line);
    if (!found) continue;
    const labels = Object.fromEntries([...(found[2] ?? '').matchAll(LABEL)].map(([, name, value]) => [name, value]));
    if (!all.has(found[1])) all.set(found[1], []);
    all.get(found[1]).push({ labels, value: Number(found[3]) });
  }
  return all;
}

/** The sum of a counter, by the value of a label where one is named. */
export function sums(all, name, label) {
  const by = new Map();
  for (const { labels, value } of all.get(name) ?? []) {
    const key = label ? labels[label] : '';
    by.set(key, (by.get(key) ?? 0) + value);
  }
  return by;
}

/** A histogram as `{le, good, bad}` by bucket: each alone, not up to it. `isGood(labels)` tells which is which. */
export function histogram(all, name, isGood) {
  const upTo = new Map();
  for (const { labels, value } of all.get(`${name}_bucket`) ?? []) {
    const le = labels.le === '+Inf' ? Infinity : Number(labels.le);
    const bucket = upTo.get(le) ?? { le, good: 0, bad: 0 };
    bucket[isGood(labels) ? 'good' : 'bad'] += value;
    upTo.set(le, bucket);
  }
  const buckets = [...upTo.values()].sort((one, other) => one.le - other.le);
  return buckets.map((bucket, at) => ({
    le: bucket.le,
    good: bucket.good - (buckets[at - 1]?.good ?? 0),
    bad: bucket.bad - (buckets[at - 1]?.bad ?? 0),
  }));
}

/** Within how many seconds this share of them was done: the bucket in which it falls. */
export function quantile(buckets, share) {
  const total = buckets.reduce((sum, it) => sum + it.good + it.bad, 0);
  if (!total) return null;
  let so = 0;
  for (const it of buckets) {
    so += it.good + it.bad;
    if (so >= share * total) return it.le;
  }
  return Infinity;
}
