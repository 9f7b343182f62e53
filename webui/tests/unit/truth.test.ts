import { expect, test } from 'vitest';
import { truthLines } from '../../src/lib/truth';
import type { Status } from '../../src/lib/documents.gen';

const status = (height: object, prices = {}) =>
  ({ market: { height: { value: 900000 } }, truth: { height, prices } }) as unknown as Status;

const height = {
  state: 'proven',
  chain: 'main',
  anchor: null,
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
    { source: 'Block explorer', value: '900,000', verdict: 'checked', good: true },
    { source: 'Other', value: '900,000', verdict: 'checked', good: true },
    { source: 'Relay', value: '900,500', verdict: '500 ahead', good: false },
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

test.each([
  [
    { ...height, state: 'disputed', claimed: [{ source: 'relay', value: 900500, ageSec: 240 }] },
    'For 4 min, 900,000 from Peers has been contradicted by Relay (900,500).',
    'disputed',
  ],
  [
    {
      ...height,
      state: 'disputed',
      tipHash: 'aa',
      proofs: [{ source: 'node', value: 900000, hash: 'bb' }],
      claimed: [],
    },
    'For some time, 900,000 from Peers has been contradicted by Your node (900,000).',
    'disputed',
  ],
  [
    { ...height, state: 'disputed', anchor: 950000 },
    '900,000 from Peers is impossible: the chain had 950,000 blocks when this version was made.',
    'impossible',
  ],
  [
    { ...height, state: 'alone', proofs: [{ source: 'peers', value: 900000 }] },
    'For 10 s, 900,000 has come from Peers alone.',
    'alone',
  ],
  [
    {
      ...height,
      state: 'alone',
      proofs: [
        { source: 'peers', value: 900000 },
        { source: 'node', value: 900000 },
      ],
    },
    'The clock does not know the time yet: the block may be from the future.',
    'untimed',
  ],
  [{ ...height, state: 'claimed' }, 'For 10 s, nothing has proven 900,000 from Peers.', 'claimed'],
])('a doubtful height names its sources, since when and why: %#', (truth, sentence, reason) => {
  const document = status(truth);
  Object.assign(document.market.height!, { source: 'peers', ageSec: 5 });
  expect(truthLines(document, 5)[0]).toMatchObject({ sentence, reason });
});

test('a doubtful price names its sources and since when', () => {
  const voices = [
    { source: 'relay', value: '64211.50', verdict: 'agrees' },
    { source: 'kraken', value: '65900.00', verdict: 'apart' },
    { source: 'bitstamp', value: '8200.00', verdict: 'apart' },
    { source: 'gemini', value: '1.00', verdict: 'old' },
  ];
  const line = (price: object) => {
    const document = status(height, { USD: { doubtedSec: 60, ...price } });
    document.market.USD = { value: '64211.50', source: 'relay' };
    return truthLines(document)[1]!.sentence;
  };
  expect(line({ state: 'disputed', voices })).toBe(
    'For 1 min, 64,211.50 USD from Relay has been contradicted by Kraken (65,900.00) and Bitstamp (8,200.00).',
  );
  expect(line({ state: 'single', voices: voices.slice(0, 1) })).toBe(
    'For 1 min, 64,211.50 USD has come from Relay alone.',
  );
});

test('a price has the claims of all sources', () => {
  const voices = [
    { source: 'relay', value: '64211.50', verdict: 'agrees' },
    { source: 'coinbase', value: '64200.00', verdict: 'agrees' },
    { source: 'bitstamp', value: '8200.00', verdict: 'apart' },
  ];
  const line = truthLines(status(height, { USD: { state: 'agreed', voices } }))[1]!;
  expect(line.sentence).toContain('2 sources');
  expect(line.claims.map(({ verdict }) => verdict)).toEqual(['agrees', 'agrees', 'contradicts']);
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
  expect(fee!.sentence).toBe('12.50 sat/vB comes from Your node; fee rates of other sources are not compared.');
  document.truth!.height!.chain = 'demo';
  expect(truthLines(document)).toHaveLength(1);
});
