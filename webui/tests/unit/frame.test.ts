import { expect, test } from 'vitest';
import { changedSquares, pictureQuery } from '../../src/glass/frame';

test.each([
  ['a tablet', 2048, 1536, 'width=2048&height=1536'],
  ['a screen with more pixels than a picture may have', 5120, 2880, 'width=3840&height=2160'],
  ['a television on its side', 2160, 3840, 'width=1215&height=2160'],
  ['a small frame in a page', 150, 60, 'width=200&height=100'],
])('%s gets a picture of its aspect ratio', (_, width, height, query) => {
  expect(pictureQuery({ width, height }, { screen: null })).toBe(`${query}&depth=8`);
});

test('only squares with other pixels are drawn again, and all of a picture of another size', () => {
  const picture = (width: number, at?: number) => {
    const data = new Uint8ClampedArray(width * 70 * 4);
    if (at !== undefined) data[at * 4] = 1;
    return { width, height: 70, data } as ImageData;
  };
  expect(changedSquares(picture(100), picture(100))).toEqual([]);
  expect(changedSquares(picture(100), picture(100, 69 * 100 + 99))).toEqual([[64, 64]]);
  expect(changedSquares(picture(100, 64), picture(100, 63))).toEqual([
    [0, 0],
    [64, 0],
  ]);
  for (const before of [undefined, picture(200)])
    expect(changedSquares(before, picture(100))).toEqual([
      [0, 0],
      [64, 0],
      [0, 64],
      [64, 64],
    ]);
});
