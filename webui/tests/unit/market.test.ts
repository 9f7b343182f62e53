import { expect, test } from 'vitest';
import { marketLines } from '../../src/lib/market';
import type { Status } from '../../src/lib/types';

test('values are grouped, named and aged', () => {
  const status = {
    market: {
      height: { value: 900000, source: 'relay', ageSec: 3 },
      feeRate: { value: '4.70', source: 'relay', earlierRun: true },
      USD: { value: '1234567.50', source: 'relay', ageSec: 0 },
    },
  } as unknown as Status;
  expect(marketLines(status)).toEqual([
    { name: 'Block', value: '900\u2009000', age: 3, earlierRun: false, source: 'Relay' },
    { name: 'Fee rate', value: '4.70 sat/vB', age: null, earlierRun: true, source: 'Relay' },
    { name: 'USD', value: '1\u2009234\u2009567.50', age: 0, earlierRun: false, source: 'Relay' },
  ]);
});

test('a clock that tells no market has none', () => {
  expect(marketLines({} as Status)).toEqual([]);
});
