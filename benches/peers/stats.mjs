// Numbers of a row: what is said of a list of samples.

/** The value below which the share `q` of the samples lies; of neighbours the nearer one. */
export function quantile(samples, q) {
  if (samples.length === 0) return undefined;
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.round(q * (sorted.length - 1)))];
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(samples) {
  if (samples.length === 0) return undefined;
  const sorted = [...samples].sort((one, other) => one - other);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** How many times better `ours` is than `theirs`: above one we are ahead. */
export function lead(ours, theirs, higherIsBetter) {
  if (!(ours > 0) || !(theirs > 0)) return undefined;
  return higherIsBetter ? ours / theirs : theirs / ours;
}
