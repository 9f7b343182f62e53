import { expect, test } from 'vitest';
import { painted } from '../../src/lib/panels';

test('a status without ages of panels has no text', () => {
  expect(painted(undefined)).toBeUndefined();
  expect(painted([])).toBeUndefined();
  expect(painted([{ partials: 0 }])).toBeUndefined();
});

test('the text has the newest paint and the most partial refreshes', () => {
  expect(painted([{ ageSec: 300, partials: 0 }, { ageSec: 120, partials: 0 }, { partials: 0 }])).toBe(
    'painted 2 min ago, in full',
  );
  expect(
    painted([
      { ageSec: 300, partials: 3 },
      { ageSec: 120, partials: 12 },
    ]),
  ).toBe('painted 2 min ago, 12 partial since the last full refresh');
});
