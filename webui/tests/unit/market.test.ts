import { expect, test } from 'vitest';
import { marketLines } from '../../src/lib/market';
import type { Status } from '../../src/lib/documents.gen';

test('values have a name, grouped digits and an age', () => {
  const status = {
    market: {
      height: { value: 900000, source: 'relay', ageSec: 3 },
      feeRate: { value: '4.70', source: 'relay', earlierRun: true },
      JPY: { value: '9876543.50', source: 'relay', ageSec: 0 },
      USD: { value: '1234567.50', source: 'relay', ageSec: 0 },
    },
  } as unknown as Status;
  expect(marketLines(status, ['USD', 'JPY'])).toEqual([
    { id: 'height', name: 'Block', value: '900,000', age: 3, earlierRun: false, source: 'Relay' },
    { id: 'feeRate', name: 'Fee rate', value: '4.70 sat/vB', age: null, earlierRun: true, source: 'Relay' },
    { id: 'USD', name: 'USD', value: '1,234,567.50', age: 0, earlierRun: false, source: 'Relay' },
    // The yen has no smaller unit.
    { id: 'JPY', name: 'JPY', value: '9,876,544', age: 0, earlierRun: false, source: 'Relay' },
  ]);
});

test('figures of pool, miner and wallet have a source and an age too', () => {
  const figure = (value: string | number, source: string) => ({ value, source, ageSec: 60 });
  const figures = {
    poolHashrate: figure('512340000000000', 'pool'),
    poolEarnings: figure(12345, 'pool'),
    poolWorkers: figure(2, 'pool'),
    minerHashrate: figure('999', 'miner'),
    minerBest: figure('1.2G', 'miner'),
    walletBalance: figure(21000, 'wallet'),
  };
  const lines = marketLines({ market: {}, figures } as unknown as Status);
  expect(lines.map(({ name, value, source, age }) => `${source}: ${name} ${value} ${age}`)).toEqual([
    'Mining pool: Hashrate 512.34 TH/s 60',
    'Mining pool: Earnings a day 12,345 sats 60',
    'Mining pool: Workers 2 60',
    'Miner: Hashrate 999 H/s 60',
    'Miner: Best difficulty 1.2G 60',
    'Wallet: Balance 21,000 sats 60',
  ]);
});

test.each([
  ['1000', '1 kH/s'],
  ['999999', '999.99 kH/s'],
  ['184467440737095516150', '184.46 EH/s'],
  [`2${'0'.repeat(25)}`, '20,000 ZH/s'],
  ['0', '0 H/s'],
])('%s hashes per second are %s', (value, words) => {
  const figures = { poolHashrate: { value, source: 'pool' } };
  expect(marketLines({ figures } as unknown as Status)[0]?.value).toBe(words);
});

test('a status without market values has no lines', () => {
  expect(marketLines({} as Status)).toEqual([]);
});
