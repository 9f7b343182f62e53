import { expect, test } from 'vitest';
import { pictureQuery } from '../../src/glass/frame';

test.each([
  ['a tablet', 2048, 1536, 'width=2048&height=1536'],
  ['a screen with more pixels than a picture may have', 5120, 2880, 'width=3840&height=2160'],
  ['a television on its side', 2160, 3840, 'width=1215&height=2160'],
  ['a small frame in a page', 150, 60, 'width=200&height=100'],
])('%s gets a picture of its aspect ratio', (_, width, height, query) => {
  expect(pictureQuery({ width, height }, { screen: null })).toBe(`${query}&depth=8`);
});
