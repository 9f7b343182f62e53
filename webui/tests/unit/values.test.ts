import { expect, test } from 'vitest';
import recorded from '../mock/recorded.json';
import { FIELDS } from '../../src/lib/fields';
import { difference } from '../../src/lib/transfer';
import type { Settings } from '../../src/lib/types';
import { nameOf, wordedAs } from '../../src/lib/values';

const settings = recorded.settings as unknown as Settings;

test.each([
  ['disableLeds', true, 'off'],
  ['flDisable', false, 'on'],
  ['welcomed', true, 'off'],
  ['invertedColor', true, 'on'],
  ['dataSource', 3, 'Custom relay'],
  ['fontName', 'antonio', 'Antonio'],
  ['blockFlashColor', 255, '#0000ff'],
  ['flMaxBrightness', 9000, '100 %'],
  ['labelFitPct', 60, '60 %'],
  ['txPower', null, 'As the radio chooses'],
  ['txPower', 78, '19.5 dBm'],
  ['timerSeconds', 15, '15 s'],
  ['timePerScreen', 1.5, '1 min 30 s'],
  ['screensHidden', [0, 3], 'Block Height, Time'],
  ['screensHidden', '90,0', '#90, Block Height'],
  ['screensHidden', '', 'none'],
  ['screenOrder', [], 'as delivered'],
  ['priceWitnesses', ['coinbase', 'bitstamp'], 'Coinbase, Bitstamp'],
  ['actCurrencies', [], 'none'],
  [
    'keptTexts',
    [
      ['H', 'I'],
      ['TOP/LOW', 'word'],
    ],
    'HI, TOP/LOW word',
  ],
  ['hostnamePrefix', '', 'nothing'],
  ['dnd', settings.dnd, 'off'],
])('%s of %j is told as %s', (key, value, words) => {
  expect(wordedAs(key, value, settings)).toBe(words);
});

test('a difference has the name of what it is, and keeps secrets', () => {
  expect(difference({ name: 'dndEndMin', old: 0, new: 30 }, settings)).toEqual([
    'Quiet hours every day: To',
    '0 min',
    '30 min',
  ]);
  expect(difference({ name: 'otaPass', secret: true }, settings)).toEqual(['Update password', '', 'another secret']);
});

test('all that a file holds has a name, and no value in it is told as code', () => {
  // One has no effect, the other is settled by the clock.
  const nameless = ['mcapBigChar', 'poolUserIsKey'];
  const file = Object.entries(recorded.care.exported.settings).filter(([key]) => !nameless.includes(key));
  expect(file.filter(([key]) => nameOf(key) === key)).toEqual([]);
  expect(FIELDS.filter(({ key }) => nameOf(key) === key)).toEqual([]);
  expect(file.filter(([key, value]) => /[[{"]|true|false|null/.test(wordedAs(key, value, settings)))).toEqual([]);
});
