import { expect, test } from 'vitest';
import { misfit, older } from '../../src/lib/version';

test.each([
  ['3.9.9', '4.0.0', true],
  ['4.0.0', '4.0.0', false],
  ['v4.0.1-2-gabc', '4.0.0', false],
  ['4.1.0', '4.10.0', true],
  ['abcdef0', '4.0.0', false],
  [undefined, '4.0.0', false],
])('%s precedes %s: %s', (one, other, result) => {
  expect(older(one, other)).toBe(result);
});

test.each([
  ['4.0.0', '4.0.0-0123', /^$/],
  ['3.4.0', '3.4.0', /needs version 4.0.0/],
  ['4.1.0', '4.0.0-0123', /version 4.1.0, its page 4.0.0/],
  [undefined, '', /^$/],
])('program %s with page %s', (firmware, bundle, words) => {
  expect(misfit({ commit: '4.0.0-0123', minFirmware: '4.0.0' }, firmware, bundle)).toMatch(words);
});

test('a page without a manifest has no mismatch', () => {
  expect(misfit(null, '3.0.0', '')).toBe('');
});
