import { expect, test } from 'vitest';
import { ago, brief, long } from '../../src/lib/age';
import { sourceLines } from '../../src/lib/sources';
import { characters, cut } from '../../src/lib/text';
import { spoken } from '../../src/lib/twin';
import type { Status } from '../../src/lib/types';

test.each([
  [['BLOCK/HEIGHT', '8', '9', '5', '1', '2', '3'], 'BLOCK HEIGHT, 895123'],
  [['BTC/USD', ' ', '$', '9', '8', '7', '6'], 'BTC USD, $9876'],
  [['FEE/RATE', ' ', '4', '.', '2', '1', 'sat/vB'], 'FEE RATE, 4.21, sat per vB'],
  [['SATS/EUR', ' ', ' ', 'STS', '9', '2', '1'], 'SATS EUR, satoshis 921'],
  [['20/11', ' ', '1', '4', ':', '0', '5'], '20/11, 14:05'],
  [
    ['BIT/COIN', 'HAL/VING', '1/YRS', '2/DAYS', '3/HRS', '4/MINS', 'TO/GO'],
    'BIT COIN, HAL VING, 1 YRS, 2 DAYS, 3 HRS, 4 MINS, TO GO',
  ],
  [['mdi:bolt', ' ', '2', '1', ' ', ' ', ' '], 'bolt, 21'],
  [['', '', '', '', '', '', ''], ''],
  [['H', 'E', 'L', 'L', 'O', ' ', ' '], 'HELLO'],
])('%j is spoken as %s', (cells, words) => {
  expect(spoken(cells)).toBe(words);
});

test.each([
  [0, '0 s', '0 s', 'just now'],
  [59.9, '59 s', '59 s', '59 s ago'],
  [61, '1 min', '1 min 1 s', '1 min ago'],
  [3600, '1 h', '1 h', '1 h ago'],
  [187_200, '2 d', '2 d 4 h', '2 d ago'],
  [-5, '0 s', '0 s', 'just now'],
])('%f s', (seconds, short, both, past) => {
  expect([brief(seconds), long(seconds), ago(seconds)]).toEqual([short, both, past]);
});

test('text is counted and cut by code point', () => {
  expect(characters('₿1€')).toHaveLength(3);
  expect(cut('₿ITCOIN!', 7)).toBe('₿ITCOIN');
});

test('sources come with ages where the clock tells them, else from the flags', () => {
  const base = {
    connectionStatus: {
      price: true,
      blocks: false,
      V2: false,
      nostr: [{ url: 'wss://a', connected: true }],
      nwc: false,
    },
  };
  expect(sourceLines(base as unknown as Status).map(({ name, up }) => [name, up])).toEqual([
    ['Prices', true],
    ['Blocks and fees', false],
    ['Nostr relay', true],
  ]);
  const sources = { relay: { up: false, ageSec: 90, lastError: 'timed out', nextTrySec: 4 } };
  expect(sourceLines({ ...base, sources } as unknown as Status)).toEqual([
    { name: 'Relay', up: false, age: 90, note: 'timed out; next try in 4 s' },
  ]);
});
