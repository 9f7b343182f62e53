import { expect, test } from 'vitest';
import { glow, luxAt, paperLight, placeOf, roomOf, shine } from '../../src/lib/bench';

test('slider positions and illuminances are converted both ways', () => {
  expect([luxAt(0), luxAt(20), luxAt(60), luxAt(100)]).toEqual([0, 1, 100, 10_000]);
  for (let place = 1; place <= 100; place += 1) expect(Math.abs(placeOf(luxAt(place)) - place)).toBeLessThanOrEqual(1);
  expect([placeOf(0), placeOf(-1), placeOf(0.0001), placeOf(1e9)]).toEqual([0, 0, 1, 100]);
});

test.each([
  [0, 'dark'],
  [5, 'a lamp far away'],
  [100, 'evening'],
  [500, 'a bright room'],
  [5000, 'daylight'],
])('%f lux is %s', (lux, word) => {
  expect(roomOf(lux)).toBe(word);
});

test('paper is lit by the room and by the frontlight', () => {
  expect(paperLight(null, 0)).toBe(1);
  expect(paperLight(0, 0)).toBeLessThan(0.2);
  expect(paperLight(0, 2048)).toBeGreaterThan(0.7);
  expect(paperLight(10_000, 4095)).toBe(1);
  expect([shine(0), shine(4095), shine(9999)]).toEqual([0, 1, 1]);
});

test('a dim LED keeps its hue', () => {
  expect(glow('#000000')).toEqual({ colour: '#000000', strength: 0 });
  expect(glow('#400000').colour).toBe('rgb(255 0 0)');
  expect(glow('#400000').strength).toBeLessThan(glow('#FF0000').strength);
  expect(glow('nonsense').strength).toBe(0);
});
