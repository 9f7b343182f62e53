import { expect, test } from 'vitest';
import recorded from '../mock/recorded.json';
import { ago, brief, long } from '../../src/lib/age';
import { missing } from '../../src/lib/glyphs';
import { outage } from '../../src/lib/health';
import { npub } from '../../src/lib/npub';
import { screenWords } from '../../src/lib/screens';
import { connectionOf, sourceLines } from '../../src/lib/sources';
import { spotFor } from '../../src/lib/spot';
import { characters, cut } from '../../src/lib/text';
import type { Status } from '../../src/lib/documents.gen';

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

test('sources have an age, an error, a time of the next attempt, and dropped messages', () => {
  const [up, down] = sourceLines(recorded.events.status as unknown as Status, 4);
  expect(up).toEqual({
    id: 'relay',
    name: 'Relay',
    up: true,
    hasData: true,
    state: '4 s ago',
    error: '',
    next: '',
    dropped: ['2 × bad height'],
  });
  expect(down).toEqual({
    id: 'pool',
    name: 'Mining pool',
    up: false,
    hasData: true,
    state: 'silent for 4 s',
    error: 'Connection refused.',
    next: 'Trying now.',
    dropped: [],
  });
  const waiting = { sources: { miner: { up: false, nextTrySec: 90 } } } as unknown as Status;
  expect(sourceLines(waiting, 20)[0]).toMatchObject({ state: 'not connected', error: '', next: 'Next try in 1 min.' });
});

const down = { up: false, lastError: 'connection refused', nextTrySec: 30 };
test.each([
  ['nwcEnabled', { sources: { wallet: { up: true, ageSec: 3 } } }, { id: 'wallet', up: true, hasData: true }],
  ['miningPoolStats', { sources: { pool: down } }, { error: 'Connection refused.', next: 'Next try in 30 s.' }],
  ['nodeKind', { sources: { node: down } }, { name: 'Your node', up: false }],
  ['mqttEnabled', { sources: {}, mqtt: down }, { id: 'mqtt', up: false, next: 'Next try in 30 s.' }],
  ['mqttEnabled', { sources: {}, mqtt: null }, null],
  ['proxyEnabled', { sources: {}, proxy: null }, null],
  // A proxy is used by the next attempt of a source.
  [
    'proxyEnabled',
    {
      sources: { relay: { ...down, nextTrySec: 40 }, pool: down },
      proxy: { up: false, lastError: 'no address found' },
    },
    { id: '', error: 'No address found.', next: 'Next try in 30 s.' },
  ],
  ['proxyEnabled', { sources: { pool: down }, proxy: { up: true, ageSec: 2 } }, { up: true, next: '' }],
  ['minerEnabled', { sources: {} }, null],
])('the connection of %s at %j is %j', (key, status, expected) => {
  const line = connectionOf(key, status as unknown as Status, 0);
  if (expected) expect(line).toMatchObject(expected);
  else expect(line).toBeNull();
});

const window = { width: 400, height: 300 };
test.each([
  ['nothing', [], { left: 150, top: 248 }],
  ['a button in the middle', [{ left: 190, top: 280, right: 210, bottom: 290 }], { left: 12, top: 248 }],
  ['a bar at the bottom', [{ left: 0, top: 250, right: 400, bottom: 300 }], { left: 150, top: 208 }],
])('a notice avoids %s', (_, others, spot) => {
  expect(spotFor({ width: 100, height: 40 }, window, others)).toEqual(spot);
});

test.each([
  // The pair of NIP-19.
  [
    '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e',
    'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg',
  ],
  [
    '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d',
    'npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6',
  ],
  ['7e7e', ''],
  ['', ''],
])('the key %s is the npub %s', (hex, text) => {
  expect(npub(hex)).toBe(text);
});

const relay = (state: object) => ({ sources: { relay: { up: false, ...state } } });
const none = { price: false, blocks: false };
test.each([
  ['a clock with data', { sources: { relay: { up: true } }, connectionStatus: none }, null],
  ['a source that was lost a moment ago', { ...relay({ ageSec: 5 }), connectionStatus: none }, null],
  ['a clock that just started', { ...relay({}), connectionStatus: none, espUptime: 4 }, null],
  ['only a pool is down', { sources: { pool: { up: false } }, connectionStatus: none, espUptime: 900 }, null],
  [
    'a clock that never had data',
    { ...relay({}), connectionStatus: none, espUptime: 900 },
    ['No blocks, fees and prices arrive.', 'Relay: ', 'Since the clock started.'],
  ],
  [
    'a clock without prices',
    {
      sources: { explorer: { up: true }, exchange: { up: false, ageSec: 3700, lastError: 'timed out' } },
      connectionStatus: { price: false, blocks: true },
    },
    ['No prices arrive.', 'Exchange: timed out', 'For 1 h 1 min.'],
  ],
  [
    'a relay that is down, with peers and exchanges that are up',
    {
      sources: { relay: { up: false, ageSec: 900 }, peers: { up: true }, kraken: { up: true } },
      connectionStatus: none,
    },
    null,
  ],
  [
    'a relay that is down, with a node that is up',
    {
      sources: { relay: { up: false, ageSec: 900 }, node: { up: true }, kraken: { up: false } },
      connectionStatus: none,
    },
    ['No prices arrive.', 'Relay: ', 'For 15 min.'],
  ],
  [
    'a relay that is down, with an exchange that is up',
    {
      sources: { relay: { up: false, ageSec: 900 }, peers: { up: false }, kraken: { up: true } },
      connectionStatus: none,
    },
    ['No blocks and fees arrive.', 'Relay: ', 'For 15 min.'],
  ],
])('what is missing: %s', (_, status, expected) => {
  const found = outage({ espUptime: 5000, ...status } as unknown as Status);
  const why = found?.why.map(({ source, reason }) => `${source}: ${reason}`).join();
  expect(found && [found.missing, why, found.since]).toEqual(expected);
});

test.each([
  [{ id: 10, name: 'Sats per dollar' }, 'USD', ['Sats per dollar', '']],
  [{ id: 10, name: 'Sats per dollar' }, 'JPY', ['Sats per JPY', '']],
  [{ id: 20, name: 'Ticker' }, 'JPY', ['Ticker', 'JPY']],
])('%j in %s', (screen, currency, [name, shownCurrency]) => {
  expect(screenWords(screen, currency)).toEqual({ name, currency: shownCurrency });
});

test('missing characters are listed once, and names of icons are ignored', () => {
  expect(missing('₿ÄÉ$')).toBe('');
  expect(missing('A\u{13080}B\u{13080}\u{13081}')).toBe('“\u{13080}”, “\u{13081}”');
  expect(missing('mdi:bell')).toBe('');
});
