import { describe, expect, test } from 'vitest';
import recorded from '../mock/recorded.json';
import { fit, repainted } from '../../src/lib/glass';

describe('fit', () => {
  test.each([
    // panels, room, device ratio, canvas factor, exact
    [7, 1080, 1, 1, true],
    [8, 1120, 1, 1, true],
    [7, 1080, 2, 2, true],
    [7, 1080, 1.5, 2, false],
    [7, 344, 3, 1, true],
    [7, 304, 2, 1, false],
    [8, 304, 1, 1, false],
    [7, 2000, 1, 2, true],
  ])('%i panels in %i px at %f', (count, room, ratio, canvas, exact) => {
    const size = fit(count, 122, 250, room, ratio);
    expect({ canvas: size.canvas, exact: size.exact }).toEqual({ canvas, exact });
    const width = count * size.width + (count - 1) * size.gap;
    expect(width).toBeLessThanOrEqual(room + 1e-6);
    expect(width).toBeGreaterThan(room * 0.7);
    expect((size.width * ratio) % 1).toBeCloseTo(0);
    if (exact) expect((size.width * ratio) / 122).toBeCloseTo(canvas);
  });

  test('a width of zero gives a positive size', () => {
    expect(fit(8, 122, 250, 0, 1).width).toBeGreaterThan(0);
  });
});

test('a frame of the clock has the repainted panels by kind of refresh', () => {
  expect(repainted(JSON.stringify(recorded.events.panels))).toEqual({ full: [0], partial: [6] });
});

test.each([
  '{"panels":[{"panel":-1,"refresh":"full"}]}',
  '{"panels":[{"panel":1,"refresh":"half"}]}',
  '{"panels":[1]}',
  '{"full":[1],"partial":[]}',
  '[0]',
  'null',
  'all',
])('an invalid frame is rejected: %s', (data) => {
  expect(repainted(data)).toBeUndefined();
});
