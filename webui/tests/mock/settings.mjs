// Settings of the mock clock: every key of the interface at its default.

export const GET_ONLY = new Set(['fgColor', 'bgColor', 'timerSeconds', 'hostname', 'ip', 'hwRev', 'gitTag', 'numScreens', 'timerRunning']);
export const REBOOT = new Set(['dataSource', 'explorerInstance', 'ceEndpoint', 'httpAuthEnabled', 'httpAuthUser', 'httpAuthPass', 'nwcUri', 'inverseButtons']);

const SCREENS = [
  [0, 'Block Height'], [3, 'Time'], [4, 'Halving countdown'], [6, 'Block Fee Rate'], [10, 'Sats per dollar'],
  [20, 'Ticker'], [30, 'Market Cap'], [40, 'Bitcoin Supply'],
];
const FONTS = ['antonio', 'oswald', 'inter', 'sourceSerif', 'antonioSemiBold', 'azeret'];
const BOUNDS = { digitFontPx: [80, 220], labelFitPct: [25, 100], fullRefreshMin: [0, 1440], proxyPort: [1, 65535], ledBrightness: [0, 255], minSecPriceUpd: [0, 3600], poolPollSec: [10, 3600], timePerScreen: [0, 60] };

/** A fresh settings document; what is never read back is under `secrets`. */
export function defaultSettings(panels, frontlight) {
  return {
    numScreens: panels, hostname: 'papertick-a1b2c3', ip: '192.168.1.42', hwRev: 'Rev B, 7 x 2.13 in, simulated', gitTag: '4.0.0', gitRev: '4.0.0', fsRev: '', lastBuildTime: 1764547200,
    fontName: 'antonio', digitFontPx: 180, labelFitPct: 100, invertedColor: false, fgColor: 0, bgColor: 65535, fullRefreshMin: 60, refrScrnChange: false, verticalDesc: true, mcapBigChar: true, supplyPercent: false,
    useBlkCountdown: true, useMscwTime: true, priceSymMode: 0, satsVariant: 7, blockFeeDec: true, suffixPrice: false, decimalShareDot: false, mowMode: false, hideLeadZero: false, timerSeconds: 1800,
    hostnamePrefix: 'papertick', mdnsEnabled: true, wifiRebootMin: 10, wpTimeout: 900, txPower: 78, proxyEnabled: false, proxyType: 0, proxyHost: '', proxyPort: 1080, proxyUser: '', proxyBypass: '*.local,192.168.*,10.*,127.0.0.1',
    dataSource: 0, explorerInstance: 'explorer.example', explorerSecure: true, ceEndpoint: 'relay.example', ceDisableSSL: false, minSecPriceUpd: 30, actCurrencies: ['USD', 'EUR', 'JPY'],
    ledBrightness: 128, blockFlashColor: 14697216, disableLeds: false, ledFlashOnUpd: false, ledFlashOnZap: true, ledTestOnPower: true, flAlwaysOn: true, flDisable: false, flEffectDelay: 15, flFlashOnUpd: true, flFlashOnZap: true, flMaxBrightness: 2048, flOffWhenDark: true, flOffOnDnd: true, luxLightToggle: 128, inverseButtons: false,
    tzString: 'Europe/Amsterdam', miningPoolStats: false, miningPoolName: 'noderunners', miningPoolUser: '', poolWorker: '', poolGlobalStats: true, localPoolHost: 'umbrel.local:2019', poolPollSec: 60, poolLogosUrl: 'https://logos.example',
    minerEnabled: false, minerHostname: 'miner1', minerPollSec: 10, nostrRelay: 'wss://relay.example', nostrPubKey: '', nostrZapNotify: false, nostrZapPubkey: '', scrnRestoreZap: true, stealFocus: false,
    nwcEnabled: false, nwcRefreshSecs: 60, nwcShowNotify: true, nwcFlashOnPay: true, httpAuthEnabled: false, httpAuthUser: 'papertick', otaEnabled: true, gitReleaseUrl: '', enableDebugLog: false, timerActive: true,
    availableFonts: FONTS.map((id) => ({ id, hasBtcSymbol: id === 'inter' })), availablePools: ['ocean', 'noderunners', 'braiins', 'viabtc'], availableCurrencies: ['USD', 'EUR', 'GBP', 'CAD', 'CHF', 'AUD', 'JPY'],
    screens: SCREENS.map(([id, name], order) => ({ id, name, enabled: true, order })),
    dnd: { enabled: false, dndTimeEnabled: false, startHour: 22, startMinute: 0, endHour: 7, endMinute: 0 },
    hasFrontlight: frontlight, hasLightLevel: frontlight,
    secrets: { httpAuthPass: '', otaPass: '', proxyPass: '', nwcUri: '' },
  };
}

/** The token of the first thing wrong with a patch. */
export function patchError(patch, settings) {
  for (const [key, value] of Object.entries(patch)) {
    const bounds = BOUNDS[key];
    if (bounds && (typeof value !== 'number' || value < bounds[0] || value > bounds[1])) return `range:${key}`;
    if (key in settings && !GET_ONLY.has(key) && typeof value !== typeof settings[key]) return `${key}:bad_type`;
  }
  if (patch.nostrRelay && !/^wss?:/.test(patch.nostrRelay)) return 'nostrRelay:bad_scheme';
  if ((patch.proxyEnabled ?? settings.proxyEnabled) && !(patch.proxyHost ?? settings.proxyHost)) return 'proxyHost:bad_length';
  return undefined;
}
