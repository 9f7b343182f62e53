import { expect, test } from 'vitest';
import { muted } from '../../src/lib/muted';

const dnd = {
  enabled: false,
  dndTimeEnabled: true,
  timeBasedEnabled: true,
  startTime: '22:00',
  endTime: '7:00',
  active: true,
};

test.each([
  [null, dnd, ''],
  ['disableLeds', { ...dnd, enabled: true }, 'The LEDs are switched off in the settings.'],
  ['dnd', { ...dnd, enabled: true }, 'Do Not Disturb keeps the LEDs dark.'],
  ['dnd', dnd, 'The LEDs are dark in the quiet hours, until 7:00.'],
] as const)('the reason %s has a sentence', (ledsMuted, dnd, text) => {
  expect(muted({ ledsMuted, dnd })).toBe(text);
});
