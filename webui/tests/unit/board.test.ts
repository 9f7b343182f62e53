import { expect, test } from 'vitest';
import { boardOf, currenciesOf, isShown, missingFrom, nameOfEntry } from '../../src/lib/board';
import type { Settings } from '../../src/lib/types';

const entry = (id: number, name: string) => ({ id, name, enabled: true, order: 0 });
const settings = {
  actCurrencies: ['EUR', 'USD', 'CHF'],
  screens: [entry(0, 'Block Height'), entry(20, 'Ticker'), entry(10, 'Sats per dollar')],
} as unknown as Settings;

test('a screen in the first currency is the same as one without a currency', () => {
  expect(boardOf(['20:EUR', '20:USD', '0', '20'], settings)).toEqual(['20', '20:USD', '0']);
  expect(boardOf(undefined, settings)).toEqual([]);
});

test('an entry is offered in the currencies that the board lacks', () => {
  const values = (one: string) =>
    currenciesOf(one, ['20', '20:GBP', '0'], settings).map(({ value, label }) => [value, label]);
  expect(values('20')).toEqual([
    ['20', 'EUR'],
    ['20:USD', 'USD'],
    ['20:CHF', 'CHF'],
  ]);
  // A currency that is no longer in use can be replaced.
  expect(values('20:GBP').map(([value]) => value)).toEqual(['20:USD', '20:CHF', '20:GBP']);
  expect(missingFrom(['20', '20:GBP', '0'], settings)).toEqual(['20:USD', '10']);
});

test.each([
  ['20', 'Ticker', true],
  ['20:CHF', 'Ticker, CHF', true],
  ['20:GBP', 'Ticker, GBP', false],
  ['10:CHF', 'Sats per CHF', true],
  ['10', 'Sats per EUR', true],
  ['10:USD', 'Sats per dollar', true],
  ['90', 'Wallet Balance', false],
])('%s is named %s', (one, name, shown) => {
  expect([nameOfEntry(one, settings), isShown(one, settings)]).toEqual([name, shown]);
});
