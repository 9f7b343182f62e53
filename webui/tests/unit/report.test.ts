import { expect, test } from 'vitest';
import { LOG_LINES, report, scrubbed } from '../../src/lib/report';
import type { LogLine, RemoteDisplay, Status } from '../../src/lib/documents.gen';

const status = (more: object = {}) =>
  ({ espUptime: 3_700, currentScreen: 20, mode: 'rotation', sources: {}, ...more }) as unknown as Status;
const line = (text: string): LogLine => ({ time: '2026-01-02T03:04:05.678Z', level: 'warn', text });

/** A secret or address, and a log line that contains it. */
const PLANTED: [string, string][] = [
  ['192.168.1.23', 'connected from 192.168.1.23:54321'],
  ['10.0.0.7', 'peer=10.0.0.7 answered'],
  ['203.0.113.9', 'node 203.0.113.9: connection refused'],
  ['fe80::1', 'joined fe80::1%wlan0'],
  ['2001:db8:1:2:3:4:5:6', 'route [2001:db8:1:2:3:4:5:6]:8333 lost'],
  ['::ffff:192.0.2.1', 'client ::ffff:192.0.2.1'],
  ['b8:27:eb:12:34:56', 'mac b8:27:eb:12:34:56 is ours'],
  ['B8-27-EB-12-34-56', 'display B8-27-EB-12-34-56 waits'],
  ['b827eb123456', 'device b827eb123456 joined'],
  ['broker.example.org', 'cannot reach broker.example.org (timed out)'],
  ['abcdefexample.onion', 'proxy to abcdefexample.onion:80'],
  ['umbrel.local', 'pool at umbrel.local:2019 answered 404'],
  ['alice@example.com', 'zap to alice@example.com'],
  ['hunter2', 'sent password hunter2 to the broker'],
  ['hunter2', 'sent pass=hunter2'],
  ['hunter2', 'GET http://me:hunter2@10.1.2.3/x?token=hunter2'],
  ['dXNlcjpwYXNz', 'Authorization: Basic dXNlcjpwYXNz'],
  ['npub1wghefk6kq0an', 'author npub1wghefk6kq0an said'],
  ['642317135fd4c420', 'key 642317135fd4c420 unknown'],
  ['nostr+walletconnect', 'pairing nostr+walletconnect://ab?secret=cd'],
  ['bc1qar0srrr7xfkvy', 'user bc1qar0srrr7xfkvy.worker of the pool'],
  ['/home/alice', 'cannot write /home/alice/papertick/settings.json'],
  ['HomeNet', 'ssid "HomeNet" not in reach'],
];

test.each(PLANTED)('a report has no %s', (secret, logText) => {
  const text = report({
    program: '4.0.0',
    settings: {},
    status: status({
      sources: { relay: { up: false, lastError: logText } },
      mqtt: { up: false, lastError: logText },
      safeMode: logText,
      notes: [logText],
    }),
    log: [line(logText)],
    displays: [],
  });
  expect(text).not.toContain(secret);
  expect(text.match(/\[hidden\]/g)!.length).toBeGreaterThanOrEqual(5);
});

test('values of settings are hidden everywhere', () => {
  const settings = {
    hostname: 'attic-a1b2c3',
    mqttUser: 'Satoshi N',
    timeServers: ['clockhost7'],
    hwRev: 'Rev B',
    mqttHost: 'pi4',
    proxyHost: 'attic',
  };
  const text = report({
    program: '4.0.0',
    settings,
    status: status(),
    displays: [],
    log: [line('attic-a1b2c3 joined as Satoshi N, time from clockhost7, broker pi4:1883, proxy attic, attics')],
  });
  expect(text).toContain(
    '[hidden] joined as [hidden], time from [hidden], broker [hidden]:1883, proxy [hidden], attics',
  );
  expect(text).toContain('Board: Rev B');
});

test('names of networks and displays, and texts on the panels, are hidden', () => {
  const text = report({
    program: '4.0.0',
    settings: { keptTexts: [['D', 'A', 'D']] },
    status: status({ mode: 'custom', data: ['MY', 'HOME', ''], link: { state: 'connected', ssid: 'den' } }),
    displays: [{ id: '14023D', name: 'Bed', mac: null } as RemoteDisplay],
    log: [line('joined den, display bed (14023D), text MY HOME, ["D","A","D"], dad, bedtime')],
  });
  expect(text).toContain('joined [hidden], display [hidden] ([hidden]), text [hidden], [hidden], [hidden], bedtime');
});

test('useful facts are not hidden', () => {
  for (const sentence of [
    'connection refused',
    'the relay has sent nothing for 30 s',
    'block 900123 at 12:34:56, version 4.0.0',
    'panel 3 busy-stuck after 1.5 s',
  ])
    expect(scrubbed(sentence, { mqttPort: 1883, dataSource: 0 })).toBe(sentence);
  const text = report({
    program: '4.0.0 (1a2b3c4, 2026-01-02)',
    settings: { hwRev: 'Rev B, simulated' },
    status: status({
      sources: { relay: { up: true, ageSec: 3, dropped: { 'bad-height': 2 } }, pool: { up: false, nextTrySec: 9 } },
      panelFaults: [{ panel: 2, fault: 'busy-stuck' }],
    }),
    displays: [],
    log: Array.from({ length: LOG_LINES + 5 }, (_, index) => line(`line ${index}`)),
  });
  expect(text.split('\n').slice(0, 10)).toEqual([
    'papertick 4.0.0 (1a2b3c4, 2026-01-02)',
    'Board: Rev B, simulated',
    'Running for: 1 h 1 min',
    'Shows: rotation, screen 20',
    'Network: unknown',
    'Note: panel 3 busy-stuck',
    '',
    'Sources:',
    '- relay: up, last data 3 s ago, dropped {"bad-height":2}',
    '- pool: down, next try in 9 s',
  ]);
  expect(text.split('\n').at(-1)).toBe(`2026-01-02T03:04:05 warn line ${LOG_LINES + 4}`);
  expect(text).not.toContain('line 4\n');
});
