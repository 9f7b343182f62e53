import { expect, test } from 'vitest';
import { troubles } from '../../src/lib/troubles';
import type { LinkStatus, Status } from '../../src/lib/documents.gen';

const link = (state: string, failure: string | null = null, network: LinkStatus['network'] = 'radio') => ({
  state,
  network,
  ssid: network === 'radio' ? 'Home' : '',
  ip: '',
  rssi: 0,
  failure,
  announced: null,
});

const rows: [string, Partial<Status>, string[]][] = [
  ['a status without these members', {}, []],
  ['a clock without problems', { safeMode: null, panelFaults: [], link: link('connected') }, []],
  ['a first attempt', { link: link('connecting') }, []],
  [
    'a lost radio',
    { link: link('disconnected', 'lost') },
    ['The clock has lost “Home”: the connection was lost. Its values are not updated; it keeps trying.'],
  ],
  [
    'a later attempt',
    { link: link('connecting', 'no_ap_found') },
    ['The clock has lost “Home”: no network of that name is in reach. Its values are not updated; it keeps trying.'],
  ],
  [
    'a pulled cable',
    { link: link('disconnected', null, 'host') },
    ['The clock has lost its network. Its values are not updated; it keeps trying.'],
  ],
  [
    'everything at once',
    {
      link: link('disconnected', 'new_reason'),
      panelFaults: [
        { panel: 0, fault: 'bus', says: '', failures: 4 },
        { panel: 1, fault: 'not-refreshed', says: '', failures: 1 },
        { panel: 2, fault: 'slow', says: '', failures: 0 },
        { panel: 6, fault: 'busy-stuck', says: '', failures: 0 },
      ],
    },
    [
      'The clock has lost “Home”: new_reason. Its values are not updated; it keeps trying.',
      'Panel 1 shows an older picture: it could not be reached. Failed attempts: 4. The clock tries again by itself.',
      'Panel 2 shows an older picture: it did not take the new one. Failed attempts: 1. The clock tries again by itself.',
      'Panel 3 shows an older picture: it refreshed too slowly.',
      'Panel 7 shows an older picture: it never became ready again.',
    ],
  ],
];

test.each(rows)('%s', (_, status, sentences) => {
  expect(troubles(status as Status)).toEqual(sentences);
});
