import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lead, median, quantile } from './stats.mjs';

test('the median is the middle one, or the mean of two', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10, 9]), 9.5);
  assert.equal(median([]), undefined);
});

test('a quantile is a sample, and the list stays as it was', () => {
  const samples = [5, 100, 1, 3, 4, 2];
  assert.equal(quantile(samples, 0), 1);
  assert.equal(quantile(samples, 0.95), 100);
  assert.equal(quantile(samples, 1), 100);
  assert.equal(quantile([], 0.5), undefined);
  assert.deepEqual(samples, [5, 100, 1, 3, 4, 2]);
});

test('a lead above one is ours, whichever way is better', () => {
  assert.equal(lead(2, 10, false), 5);
  assert.equal(lead(10, 2, false), 0.2);
  assert.equal(lead(10, 2, true), 5);
  assert.equal(lead(undefined, 2, true), undefined);
  assert.equal(lead(0, 2, false), undefined);
});
