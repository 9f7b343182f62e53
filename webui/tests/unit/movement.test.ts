import { expect, test } from 'vitest';
import { changeOf, pathOf } from '../../src/lib/movement';

/** A day whose first value is `hours` old, with a value every ten minutes. */
function day(hours: number, first: number | null = 80) {
  const times = Array.from({ length: hours * 6 + 1 }, (_, step) => 600 * step);
  return { times, values: times.map((_, step) => (step === 0 ? first : 100)) };
}

test.each([
  ['a value of a day ago', day(24), 0.25],
  ['an older one', { times: [0, ...day(24).times.map((time) => time + 600)], values: [1, ...day(24).values] }, 0.25],
  ['one that is almost a day old', day(23), 0.25],
  ['none that is old enough', day(22), null],
  ['a gap at that moment', day(24, null), 0],
  ['the nearest one', { times: [0, 1200, 87_000], values: [80, 50, 100] }, 0.25],
  ['no value', { times: [], values: [] }, null],
])('change of a day: %s', (_, values, expected) => {
  const change = changeOf(values, 100);
  expect(change === null ? null : Math.round(change * 1000) / 1000).toBe(expected);
});

test.each([0, NaN])('no change of a newest value %s', (newest) => {
  expect(changeOf(day(24), newest)).toBe(null);
});

test('a line ends at the right, and has a gap where values are missing', () => {
  const { times, values } = day(3);
  values[2] = null;
  expect(pathOf({ times, values })).toMatch(/^M0\.8750 1\.0000L0\.8819 0\.0000M.*L1\.0000 0\.0000$/);
  expect(pathOf(day(1))).toBe('');
});
