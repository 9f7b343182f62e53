import { expect, test } from 'vitest';
import recorded from '../mock/recorded.json';
import { FIELDS } from '../../src/lib/fields';
import { rowsOf } from '../../src/lib/transfer';
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
  ['mqttPort', 8883, '8883'],
  ['txPower', null, 'As the radio chooses'],
  ['txPower', 78, '19.5 dBm'],
  ['timerSeconds', 15, '15 s'],
  ['timePerScreen', 1.5, '1 min 30 s'],
  ['screensHidden', [0, 3], 'Block Height, Time'],
  ['screensHidden', '90,0,77', 'Wallet Balance, Block Height, #77'],
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
  ['dnd', settings.dnd, '22:00 – 7:00 (off)'],
  ['dnd', { ...settings.dnd, dndTimeEnabled: true }, '22:00 – 7:00'],
  ['miningPoolName', 'eu_ckpool', 'CKPool Solo EU'],
])('%s of %j is shown as %s', (key, value, words) => {
  expect(wordedAs(key, value, settings)).toBe(words);
});

test('a change has the name of its setting, the quiet hours share a row, and secrets are not shown', () => {
  const changes = [
    { name: 'dndTimeEnabled', old: false, new: true },
    { name: 'ledBrightness', old: 128, new: 64 },
    { name: 'dndEndMin', old: 0, new: 30 },
    { name: 'otaPass', secret: true as const },
  ];
  expect(rowsOf(changes, settings)).toEqual([
    {
      names: ['dndTimeEnabled', 'dndEndMin'],
      title: 'Quiet hours every day',
      old: '22:00 – 7:00 (off)',
      fresh: '22:00 – 7:30',
    },
    { names: ['ledBrightness'], title: 'LED brightness', old: '128', fresh: '64' },
    { names: ['otaPass'], title: 'Update password', old: '', fresh: 'another secret' },
  ]);
});

test('every exported setting has a name, and no value is shown as code', () => {
  // The first has no effect, and the clock sets the second.
  const nameless = ['mcapBigChar', 'poolUserIsKey'];
  const file = Object.entries(recorded.care.exported.settings).filter(([key]) => !nameless.includes(key));
  expect(file.filter(([key]) => nameOf(key) === key)).toEqual([]);
  expect(FIELDS.filter(({ key }) => nameOf(key) === key)).toEqual([]);
  expect(file.filter(([key, value]) => /[[{"]|true|false|null/.test(wordedAs(key, value, settings)))).toEqual([]);
});
