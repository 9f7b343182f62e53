import { describe, expect, test } from 'vitest';
import table from '../../src/settings.gen.json';
import { edited, moved, patchOf, rebase, same, shown } from '../../src/lib/draft';
import { clearedIn, faultOf, faults } from '../../src/lib/faults';
import {
  applies,
  choices,
  contains,
  FIELDS,
  isPossible,
  linesOf,
  matches,
  SECTIONS,
  spaced,
  type Field,
  type Row,
} from '../../src/lib/fields';
import { elsewhere } from '../../src/lib/sections';
import { nameOfScreen } from '../../src/lib/screens';
import type { ScreenEntry, Settings } from '../../src/lib/types';

const field = (key: string): Field => {
  const found = FIELDS.find((candidate) => candidate.key === key);
  if (!found) throw new Error(`no field ${key}`);
  return found;
};

const screens: ScreenEntry[] = [
  { id: 0, name: 'Block Height', enabled: true, order: 0 },
  { id: 3, name: 'Time', enabled: true, order: 1 },
  { id: 20, name: 'Ticker', enabled: false, order: 2 },
];
const base = {
  numScreens: 7,
  digitFontPx: 180,
  timerSeconds: 1800,
  httpAuthEnabled: false,
  httpAuthPassSet: false,
  proxyEnabled: false,
  proxyHost: '',
  nostrRelay: '',
  dataSource: 0,
  ceEndpoint: field('ceEndpoint').default,
  hasFrontlight: true,
  actCurrencies: ['USD', 'EUR'],
  availableCurrencies: ['USD', 'EUR', 'JPY'],
  screens,
  dnd: { enabled: false, dndTimeEnabled: false, startHour: 22, startMinute: 0, endHour: 7, endMinute: 0 },
} as unknown as Settings;

const rows = table.flatMap(({ fields }) => fields as Row[]);

test('every row of the table has a name, a section and a control that the form draws', () => {
  const drawn = [
    'switch',
    'number',
    'slider',
    'select',
    'choice',
    'color',
    'text',
    'password',
    'url',
    'key',
    'zone',
    'txPower',
    'minutes',
    'screens',
    'currencies',
    'several',
    'dnd',
    'urls',
    'keys',
  ];
  for (const row of rows) {
    expect(row.label, row.key).toBeTruthy();
    expect(SECTIONS.map(({ id }) => id)).toContain(field(row.key).section);
    expect(drawn, row.key).toContain(row.control);
    if (row.control === 'number' || row.control === 'slider')
      expect([typeof row.min, typeof row.max], row.key).toEqual(['number', 'number']);
  }
});

describe('edits', () => {
  test('a value equal to the stored one removes the edit', () => {
    const edits = edited(base, {}, 'digitFontPx', 200);
    expect(edits).toEqual({ digitFontPx: 200 });
    expect(edited(base, edits, 'digitFontPx', 180)).toEqual({});
    expect(edited(base, {}, 'actCurrencies', ['USD', 'EUR'])).toEqual({});
    expect(edited(base, {}, 'timePerScreen', 30)).toEqual({});
    expect(edited(base, {}, 'httpAuthPass', undefined)).toEqual({});
  });

  test('the form shows the edit, else the stored value', () => {
    expect([shown(base, {}, 'timePerScreen'), shown(base, { timePerScreen: 5 }, 'timePerScreen')]).toEqual([30, 5]);
  });

  test.each([
    [{ digitFontPx: 200 }, { digitFontPx: 200 }],
    [{ httpAuthPass: '' }, { httpAuthPass: '' }],
    [{ screens: screens.map((screen) => ({ ...screen, enabled: true })) }, { screens: [{ id: 20, enabled: true }] }],
    [
      { screens: moved(screens, 2, 0) },
      {
        screens: [
          { id: 20, enabled: false, order: 0 },
          { id: 0, enabled: true, order: 1 },
          { id: 3, enabled: true, order: 2 },
        ],
      },
    ],
    [{ dnd: { ...base.dnd, enabled: true } }, { dnd: { enabled: true } }],
    [{ dnd: { ...base.dnd, endHour: 6 } }, { dnd: { startHour: 22, startMinute: 0, endHour: 6, endMinute: 0 } }],
  ])('%j is sent as %j', (edits, patch) => {
    expect(patchOf(base, edits)).toEqual(patch);
  });
});

describe('newer settings under the edits', () => {
  test('changes of other keys by another client are no conflict', () => {
    expect(rebase({ digitFontPx: 200 }, base, { ...base, timerSeconds: 60 })).toEqual({
      edits: { digitFontPx: 200 },
      both: [],
    });
  });
  test('a change of the same key by another client is a conflict', () => {
    expect(rebase({ digitFontPx: 200 }, base, { ...base, digitFontPx: 100 })).toEqual({
      edits: { digitFontPx: 200 },
      both: ['digitFontPx'],
    });
  });
  test('an edit is dropped if another client stored the same value', () => {
    expect(rebase({ digitFontPx: 200 }, base, { ...base, digitFontPx: 200 })).toEqual({ edits: {}, both: [] });
  });
  test('an edit of a screen is preserved when other settings change', () => {
    const hidden = screens.map((screen, place) => (place === 1 ? { ...screen, enabled: !screen.enabled } : screen));
    const { edits, both } = rebase({ screens: hidden }, base, { ...base, timerSeconds: 60 });
    expect([edits, both]).toEqual([{ screens: hidden }, []]);
  });
  test('an edited order drops removed screens and adds new ones', () => {
    const fresh = {
      ...base,
      screens: [screens[0]!, { id: 70, name: 'Pool', enabled: true, order: 1 }, { ...screens[2]!, order: 2 }],
    };
    const { edits } = rebase({ screens: moved(screens, 2, 0) }, base, fresh);
    expect((edits.screens as ScreenEntry[]).map(({ id, order }) => [id, order])).toEqual([
      [20, 0],
      [0, 1],
      [70, 2],
    ]);
  });
});

test.each([
  [[1, 2, 3], 0, 2, [2, 3, 1]],
  [[1, 2, 3], 2, 0, [3, 1, 2]],
  [[1, 2, 3], 1, 9, [1, 3, 2]],
  [[1, 2, 3], 7, 0, [1, 2, 3]],
])('%j with %i at %i', (list, from, to, result) => {
  expect(moved(list, from, to)).toEqual(result);
});

test('equal as JSON', () => {
  expect(same({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] })).toBe(true);
  expect([same([1], { 0: 1 }), same(null, {}), same({ a: 1 }, { a: 1, b: 2 }), same('1', 1)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test.each([
  ['range:digitFontPx', 'digitFontPx', /from 80 to 220/],
  ['explorerInstance:bad_length', 'explorerInstance', /empty, too short or too long/],
  ['nostrRelay:bad_scheme', 'nostrRelay', /scheme/],
  ['screens:incomplete', 'screens', /incomplete/],
  ['currency:not_string', 'actCurrencies', /code/],
  ['dnd:range', 'dnd', /time/],
  ['fontName:new_reason', 'fontName', /new_reason/],
  ['bad body', '', /bad body/],
  ['', '', /\?/],
])('token %s', (token, key, text) => {
  const fault = faultOf(token, FIELDS);
  expect(fault.key).toBe(key);
  expect(fault.text).toMatch(text);
});

test('the hint of the clock is shown in place of a token', () => {
  const fault = faultOf('miningPoolUser:bad_type', FIELDS, 'miningPoolUser takes at most 256 bytes');
  expect(fault).toEqual({ key: 'miningPoolUser', text: 'The clock reports: miningPoolUser takes at most 256 bytes.' });
});

test.each([
  ['', []],
  ['mqttPass was cleared, because it belongs to another server: enter it again', ['mqttPass']],
  ['mqttPass and proxyPass were cleared, because …', ['mqttPass', 'proxyPass']],
])('passwords that were cleared: %s', (reason, keys) => {
  expect(clearedIn(reason).map(({ key }) => key)).toEqual(keys);
});

test.each([
  [{ digitFontPx: 300 }, ['digitFontPx']],
  [{ digitFontPx: null }, ['digitFontPx']],
  [{ digitFontPx: 100.5 }, ['digitFontPx']],
  [{ digitFontPx: 100 }, []],
  [{ timePerScreen: 61 }, ['timePerScreen']],
  [{ timePerScreen: 0.5 }, []],
  [{ nostrPubKey: 'abc' }, ['nostrPubKey']],
  [{ nostrPubKey: '' }, []],
  [{ nostrPubKey: 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg' }, []],
  [{ nostrPubKey: 'npub10elfcs' }, ['nostrPubKey']],
  [{ nostrRelay: 'https://relay' }, ['nostrRelay']],
  [{ nostrRelays: ['wss://a', 'ws://b'] }, []],
  [{ nostrRelays: ['wss://a', 'https://b'] }, ['nostrRelays']],
  [{ nostrRelays: Array(9).fill('wss://a') }, ['nostrRelays']],
  [{ nostrZapPubkeys: ['ab'.repeat(32)] }, []],
  [{ nostrZapPubkeys: ['ab'] }, ['nostrZapPubkeys']],
  [{ gitReleaseUrl: 'ftp://x' }, ['gitReleaseUrl']],
  [{ proxyUser: 'a\u0007' }, ['proxyUser']],
  [{ proxyUser: 'ä'.repeat(129) }, ['proxyUser']],
  [{ proxyEnabled: true }, ['proxyHost']],
  [{ proxyEnabled: true, proxyHost: 'p' }, []],
  [{ dataSource: 3 }, ['ceEndpoint']],
  [{ dataSource: 3, ceEndpoint: '' }, ['ceEndpoint']],
  [{ dataSource: 3, ceEndpoint: 'relay.lan' }, []],
  [{ httpAuthEnabled: true }, ['httpAuthPass']],
  [{ httpAuthEnabled: true, httpAuthPass: 'x' }, []],
])('faults in %j', (edits, keys) => {
  expect(faults(base, edits, FIELDS).map(({ key }) => key)).toEqual(keys);
});

test('a password cannot be removed while it is required', () => {
  const guarded = { ...base, httpAuthEnabled: true, httpAuthPassSet: true };
  expect(faults(guarded, { httpAuthPass: '' }, FIELDS)).toHaveLength(1);
  expect(faults(guarded, { digitFontPx: 100 }, FIELDS)).toHaveLength(0);
});

test('fields without effect do not apply', () => {
  const at = (values: Record<string, unknown>) => (key: string) => values[key];
  expect(applies(field('proxyHost'), at({ proxyEnabled: false }))).toBe(false);
  expect(applies(field('proxyUser'), at({ proxyEnabled: true, proxyType: 2 }))).toBe(false);
  expect(applies(field('proxyUser'), at({ proxyEnabled: true, proxyType: 4 }))).toBe(true);
  expect(applies(field('flDisable'), at({ hasFrontlight: false }))).toBe(false);
  expect(applies(field('fontName'), at({}))).toBe(true);
});

test('a list is written with one entry on each line', () => {
  expect(linesOf(' wss://a \n\n\twss://b\r\n')).toEqual(['wss://a', 'wss://b']);
  expect(linesOf('\n')).toEqual([]);
});

test('a search matches all words in names, keys, help, sections and choices', () => {
  expect(matches(field('proxyType'), 'socks4a')).toBe(true);
  expect(matches(field('proxyType'), 'PROXY kind')).toBe(true);
  expect(matches(field('proxyType'), 'proxy font')).toBe(false);
});

test('short search words match the beginning of words, and a plural matches its singular', () => {
  const found = (search: string) => FIELDS.filter((field) => matches(field, search)).map(({ key }) => key);
  expect(found('LED').length).toBeGreaterThan(4);
  for (const key of ['proxyEnabled', 'mqttEnabled', 'httpAuthEnabled']) expect(found('LED')).not.toContain(key);
  expect(found('LED')).toContain('disableLeds');
  expect(found('fonts')).toContain('fontName');
  expect(found('digitFontPx')).toEqual(['digitFontPx']);
});

test('every prefix of a word is found, including its punctuation', () => {
  for (const word of ['Wi-Fi', 'e-paper', 'sats/vB', '50 %', 'logs']) {
    for (let length = 1; length <= word.length; length += 1)
      expect(contains('the Wi-Fi, an e-paper, a sats/vB, 50 %, a log', word.slice(0, length)), word).toBe(true);
  }
  expect(contains('a figure of several', 'ver')).toBe(false);
});

test.each([
  ['currency', 'actCurrencies'],
  ['night mode', 'dnd'],
  ['text size', 'labelFitPct'],
  ['ghosting', 'fullRefreshMin'],
  ['refresh rate', 'minSecPriceUpd'],
  ['notification', 'nostrZapNotify'],
  ['wifi password', 'wpTimeout'],
  ['ambient light', 'luxLightToggle'],
  ['rename', 'hostnamePrefix'],
  ['automatic update', 'updateAuto'],
])('the search for “%s” finds %s', (search, key) => {
  expect(matches(field(key), search)).toBe(true);
});

test.each([
  ['ip address', '/#system'],
  ['message', '/#message'],
  ['backup', '/care/file'],
  ['nothing of the kind', undefined],
])('the search for “%s” leads to %s', (search, address) => {
  expect(elsewhere(search)[0]?.address).toBe(address);
});

test('impossible settings differ from settings that are only off', () => {
  const at = (values: Record<string, unknown>) => (key: string) => values[key];
  expect(isPossible(field('wifiRebootMin'), at({ hasRadio: false }))).toBe(false);
  expect(isPossible(field('wifiRebootMin'), at({ hasRadio: true }))).toBe(true);
  expect(isPossible(field('proxyHost'), at({ proxyEnabled: false }))).toBe(true);
});

test('the name of a screen contains its currencies', () => {
  const sats = { id: 10, name: 'Sats per dollar', enabled: true, order: 0 };
  expect(nameOfScreen(sats, ['EUR', 'USD'])).toBe('Sats per dollar');
  expect(nameOfScreen(sats, ['EUR', 'JPY'])).toBe('Sats per EUR/JPY');
});

test('choices without fixed options come from the settings document', () => {
  const settings = {
    ...base,
    availableFonts: [{ id: 'interBold', hasBtcSymbol: true }],
    availablePools: ['eu_ckpool'],
  };
  expect(choices(field('fontName'), settings)).toEqual([{ value: 'interBold', label: 'Inter Bold' }]);
  expect(choices(field('miningPoolName'), settings)).toEqual([{ value: 'eu_ckpool', label: 'CKPool Solo EU' }]);
  expect(choices(field('priceSymMode'), settings).map(({ value }) => value)).toEqual([0, 1, 2]);
  expect(spaced('sourceSerifBold')).toBe('Source Serif Bold');
});
