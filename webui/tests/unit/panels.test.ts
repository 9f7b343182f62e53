import { expect, test } from 'vitest';
import { painted } from '../../src/lib/panels';

const refreshes = { full: 1, partial: 0, failed: 0 };

test('a status without ages of panels has no text', () => {
  expect(painted(undefined)).toBeUndefined();
  expect(painted([])).toBeUndefined();
  expect(painted([{ partials: 0, refreshes }])).toBeUndefined();
});

test('the text has the newest paint, the most partial refreshes and the oldest full one', () => {
  expect(
    painted([
      { ageSec: 300, partials: 0, refreshes },
      { ageSec: 120, partials: 0, refreshes },
      { partials: 0, refreshes },
    ]),
  ).toBe('painted 2 min ago, in full');
  expect(
    painted([
      { ageSec: 300, partials: 3, refreshes: { ...refreshes, fullAgeSec: 7200 } },
      { ageSec: 120, partials: 12, refreshes: { ...refreshes, fullAgeSec: 600 } },
    ]),
  ).toBe('painted 2 min ago, 12 partial since the full one 2 h ago');
});
