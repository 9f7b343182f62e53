// Settings of the mock clock, with the defaults of the program.
import { like, recorded } from './recorded.mjs';

export const GET_ONLY = new Set([
  'fgColor',
  'bgColor',
  'timerSeconds',
  'hostname',
  'ip',
  'hwRev',
  'gitTag',
  'numScreens',
  'timerRunning',
]);
export const REBOOT = new Set([
  'dataSource',
  'explorerInstance',
  'ceEndpoint',
  'httpAuthEnabled',
  'httpAuthUser',
  'httpAuthPass',
  'nwcUri',
  'inverseButtons',
  'ledTestOnPower',
]);

/** Ids of a few screens, to keep the tests small. */
const SCREENS = [0, 3, 4, 6, 10, 20, 30, 40];
const BOUNDS = {
  digitFontPx: [80, 220],
  labelFitPct: [25, 100],
  fullRefreshMin: [0, 1440],
  proxyPort: [1, 65535],
  ledBrightness: [0, 255],
  minSecPriceUpd: [0, 3600],
  poolPollSec: [10, 3600],
  timePerScreen: [0, 60],
};

/** Settings that cannot be read: the document contains only whether they are set. */
const SECRETS = { httpAuthPass: '', otaPass: '', proxyPass: '', nwcUri: '' };

/** A new settings document, with the secret values under `secrets`. */
export function defaultSettings(panels, frontlight) {
  const fresh = like(recorded.settings, {
    numScreens: panels,
    txPower: 78,
    hasFrontlight: frontlight,
    hasLightLevel: frontlight,
    hasRadio: true,
    welcomed: true,
    availableCurrencies: ['USD', 'EUR', 'GBP', 'CAD', 'CHF', 'AUD', 'JPY'],
    screens: SCREENS.map((wanted, order) => {
      const screen = recorded.settings.screens.find(({ id }) => id === wanted);
      return like(screen, { enabled: true, order });
    }),
  });
  return { ...fresh, secrets: { ...SECRETS } };
}

/** The error token of the first invalid member of a patch. */
export function patchError(patch, settings) {
  for (const [key, value] of Object.entries(patch)) {
    const bounds = BOUNDS[key];
    if (bounds && (typeof value !== 'number' || value < bounds[0] || value > bounds[1])) return `range:${key}`;
    if (key in settings && !GET_ONLY.has(key) && typeof value !== typeof settings[key]) return `${key}:bad_type`;
  }
  if (patch.tzString?.startsWith('Mars')) return recorded.patch.zone.error;
  if (patch.nostrRelay && !/^wss?:/.test(patch.nostrRelay)) return 'nostrRelay:bad_scheme';
  if ((patch.proxyEnabled ?? settings.proxyEnabled) && !(patch.proxyHost ?? settings.proxyHost))
    return 'proxyHost:bad_length';
  return undefined;
}
