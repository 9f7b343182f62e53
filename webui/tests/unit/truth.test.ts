import { expect, test } from 'vitest';
import { truthLines } from '../../src/lib/truth';
import type { Status } from '../../src/lib/documents.gen';

const status = (height: object, prices = {}) =>
  ({ market: { height: { value: 900000 } }, truth: { height, prices } }) as unknown as Status;

const height = {
  state: 'proven',
  chain: 'main',
  agreeing: 2,
  proofs: [
    { source: 'explorer', value: 900000 },
    { source: 'other', value: 900000 },
  ],
  claimed: [
    { source: 'explorer', value: 900000 },
    { source: 'relay', value: 900500 },
  ],
};

test('a height has a sentence about its state, and the claims of all sources', () => {
  const [line] = truthLines(status(height));
  expect(line!.sentence).toBe('2 sources have this block, and the clock has checked the work in it.');
  expect(line!.claims).toEqual([
    { source: 'Block explorer', value: '900\u2009000', verdict: 'checked', good: true },
    { source: 'Other', value: '900\u2009000', verdict: 'checked', good: true },
    { source: 'Relay', value: '900\u2009500', verdict: '500 ahead', good: false },
  ]);
});

test('one source may prove one block and claim another', () => {
  const proofs = [{ source: 'explorer', value: 900000 }];
  const claimed = [{ source: 'explorer', value: 900001 }];
  const [line] = truthLines(status({ ...height, proofs, claimed }));
  expect(line!.claims.map(({ source, verdict }) => [source, verdict])).toEqual([
    ['Block explorer', 'checked'],
    ['Block explorer', '1 ahead'],
  ]);
});

test('a height that is withheld without proof has a sentence of its own', () => {
  const [line] = truthLines(status({ ...height, state: 'unknown', proofs: [] }));
  expect(line!.sentence).toContain('none is proven');
  const [silent] = truthLines(status({ ...height, state: 'unknown', proofs: [], claimed: [] }));
  expect(silent!.sentence).toBe('No height is known yet.');
});

test('every state has a sentence, and so has a demonstration', () => {
  for (const state of ['proven', 'alone', 'claimed', 'disputed', 'stale', 'unknown']) {
    expect(truthLines(status({ ...height, state }))[0]!.sentence, state).toMatch(/\.$/);
  }
  const shown = truthLines(status({ ...height, chain: 'demo' }, { USD: { state: 'single' } }));
  expect(shown.map(({ sentence }) => sentence)).toEqual([
    'This is a demonstration: its blocks and prices are invented.',
  ]);
  for (const state of ['agreed', 'single', 'disputed', 'stale']) {
    expect(truthLines(status(height, { USD: { state } }))[1]!.sentence, state).toMatch(/\.$/);
  }
});

test('a price has the claims of all sources, including outliers', () => {
  const voices = [
    { source: 'relay', value: '64211.50', verdict: 'agrees' },
    { source: 'coinbase', value: '64200.00', verdict: 'agrees' },
    { source: 'bitstamp', value: '8200.00', verdict: 'out' },
  ];
  const line = truthLines(status(height, { USD: { state: 'agreed', voices } }))[1]!;
  expect(line.sentence).toContain('2 sources');
  expect(line.claims.map(({ verdict }) => verdict)).toEqual(['agrees', 'agrees', 'too far off, not counted']);
});

test('a status without verification data has no lines', () => {
  expect(truthLines({ market: {} } as unknown as Status)).toEqual([]);
});

test('a fee rate precedes the prices, and is left out while it is unknown', () => {
  const document = status(height, { USD: { state: 'single' } });
  document.truth!.fee = { state: 'stale', source: null };
  expect(truthLines(document).map(({ name }) => name)).toEqual(['Block', 'USD']);
  document.truth!.fee = { state: 'single', source: 'node' };
  document.market.feeRate = { value: '12.50', source: 'node' };
  const [, fee, usd] = truthLines(document);
  expect([fee!.name, usd!.name]).toEqual(['Fee rate', 'USD']);
  expect(fee!.sentence).toBe('One source reports this value; no other source has confirmed it.');
  document.truth!.height!.chain = 'demo';
  expect(truthLines(document)).toHaveLength(1);
});
