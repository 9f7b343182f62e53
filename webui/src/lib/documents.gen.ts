/** The documents of the clock. Generated from the types in `crates/api`. */

/** The status of the clock. */
export interface Status {
  /** Id of the current screen of the rotation, even if a layer covers it. */
  currentScreen: number;
  /** Number of panels. */
  numScreens: number;
  /** Whether the rotation timer runs. */
  timerRunning: boolean;
  /** Whether an update is being installed. */
  isOTAUpdating: boolean;
  /** White on black. */
  epdInverted: boolean;
  /** Which connections are up, in groups. */
  connectionStatus: Connections;
  /** Strength of the radio signal, dBm; 0 without a radio. */
  rssi: number;
  /** Currency of the current screen; empty if it has none. */
  currency: string;
  /** Texts on the panels, leftmost first. */
  data: string[];
  /** What the panels show, as a sentence in English. */
  says: string;
  /** The same sentence in its parts. */
  phrase: Phrase;
  /** Do Not Disturb. */
  dnd: DndStatus;
  /** Ambient light, lux; absent without a working sensor. */
  lightLevel?: number;
  /** Colours of the LEDs, leftmost first, before brightness. */
  leds: Led[];
  /** Why the LEDs are muted; null if they are not. */
  ledsMuted: MuteReason | null;
  /** The frontlight; absent on boards without one. */
  frontlight?: FrontlightStatus;
  /** Duty of each frontlight channel; absent on boards without a frontlight. */
  flStatus?: number[];
  /** What is visible, such as `rotation`, `zap` or `update`. */
  mode: string;
  /** Whether a value on the panels is older than the limit of its source. */
  stale: boolean;
  /** Whether sources disagree about a value on the panels. */
  disputed: boolean;
  /** Changed settings that take effect at the next start. */
  restartFor: string[];
  /** Panels with a fault; they show an older picture than the others. */
  panelFaults: PanelFailure[];
  /** Problems, as texts for people. */
  notes: string[];
  /** The newest values. */
  market: MarketStatus;
  /** The newest values of the owner's mining pool, miner and wallet. */
  figures: FigureValues;
  /** Quality of the values. */
  truth: TruthStatus;
  /** Why the clock is in safe mode, without its sources, as a text for people; null if it is not. */
  safeMode: string | null;
  /** The network. */
  link: LinkStatus;
  /** Remote displays that wait for approval: their names, or their ids. */
  displaysWaiting: string[];
  /** Version of the settings document. */
  settingsTag: string;
  /** Time since the start, s. */
  espUptime: number;
  /** Available memory, bytes. */
  espFreeHeap: number;
  /** All memory, bytes. */
  espHeapSize: number;
  /** Lowest available memory since the start, bytes. */
  espMinFreeHeap: number;
  /** Largest available block, bytes. */
  espLargestFreeBlock: number;
  /** Free additional memory (such as swap), bytes. */
  espFreePsram: number;
  /** All additional memory, bytes. */
  espPsramSize: number;
  /** The panels, leftmost first. */
  panels: PanelStatus[];
  /** The sources that should run, by name. */
  sources: Record<string, SourceStatus>;
  /** The time server; null before the first query. */
  timeServer: SourceStatus | null;
  /** The owner's MQTT broker; null if the settings want none. */
  mqtt: SourceStatus | null;
  /** The owner's proxy; null if no proxy is in use. */
  proxy: SourceStatus | null;
}

/** The status of the hardware and the program. */
export interface SystemStatus {
  /** Available memory, bytes. */
  espFreeHeap: number;
  /** All memory, bytes. */
  espHeapSize: number;
  /** Lowest available memory since the start, bytes. */
  espMinFreeHeap: number;
  /** Largest available block, bytes. */
  espLargestFreeBlock: number;
  /** Free additional memory (such as swap), bytes. */
  espFreePsram: number;
  /** All additional memory, bytes. */
  espPsramSize: number;
  /** Used space of the disk, bytes. */
  fsUsedBytes: number;
  /** Size of the disk, bytes. */
  fsTotalBytes: number;
  /** Strength of the radio signal, dBm; 0 without a radio. */
  rssi: number;
  /** Transmit power, quarter-dBm. */
  txPower: number;
  /** Number of times that a queue was full since the start. */
  queueDrops: QueueDrops;
  /** Time since the start, s. */
  uptime: number;
  /** The newest release, and whether the clock can install it; null before the first check. */
  release: ReleaseStatus | null;
  /** The program that runs. */
  firmware: FirmwareStatus;
}

/** The last lines of the log. */
export interface Log {
  /** The lines, oldest first. */
  lines: LogLine[];
  /** Number of older lines that were dropped. */
  earlier: number;
}

/** A change of settings was accepted, and part of it takes effect at the next start. */
export interface RestartRequired {
  /** Always true. */
  rebootRequired: boolean;
}

/** What the import of a file changes. */
export interface ImportReport {
  /** The clock that the file comes from. */
  from: SettingsOrigin;
  /** The settings that differ. */
  changes: ChangedSetting[];
  /** Names in the file that this version does not know. */
  unknown: string[];
  /** Settings that are missing in the file; the clock keeps their values. */
  missing: string[];
  /** Values that were changed on import, as texts for people. */
  notes: string[];
  /** Why the file is refused; empty if it is accepted. */
  refused: ErrorBody[];
  /** Whether part of the change takes effect at the next start. */
  rebootRequired: boolean;
  /** Whether the settings were changed. */
  applied: boolean;
}

/** Why a request is refused. */
export interface ErrorBody {
  /** Token for programs. */
  error: string;
  /** The reason for people; absent if the token is clear enough. */
  msg?: string;
}

/** Versions of the page. */
export interface Manifest {
  /** The oldest program that the page works with. */
  minFirmware?: string;
  /** Version of the page. */
  commit: string;
  /** When it was built, s since 1970-01-01 UTC. */
  buildTime?: number;
}

/** Data of an `event: panels`: the panels that were painted. */
export interface PaintedPanels {
  /** Number of the picture. */
  generation: number;
  /** The panels. */
  panels: PaintedPanel[];
}

/** All signals of a simulated board, and the simulated relay. */
export interface BenchState {
  /** Identifier of the board. */
  board: string;
  /** Name of the timing of the panels. */
  panel_timing: string;
  /** The panels, leftmost first. */
  panels: BenchPanelState[];
  /** Live colours of the LEDs, `#RRGGBB`, leftmost first. */
  leds: string[];
  /** Live duties of the frontlight, 0 to 4095; empty on a board without one. */
  frontlight: number[];
  /** Numbers of the pressed buttons; the first is 1. */
  buttons: number[];
  /** Ambient light, lux; null without a sensor. */
  lux: number | null;
  /** The network. */
  link: BenchLink;
  /** Name of the network that a simulated radio has joined. */
  network: string | null;
  /** The access point, if the simulated radio is one. */
  access_point: AccessPointState | null;
  /** The power. */
  power: PowerState;
  /** State of the relay of a demo; null on a clock that is not a demo. */
  demo_relay: DemoRelayState | null;
}

/** All remote displays. */
export interface DisplayList {
  /** The approved ones, then those that wait for approval. */
  displays: RemoteDisplay[];
  /** Greatest number of displays. */
  max: number;
}

/** Values that were shown without a mark. */
export interface ValueHistory {
  /** What the values are. */
  series: RecordedSeries;
  /** How far back they go. */
  span: Span;
  /** Unit of the values: a currency, `sat/vB`, or `blocks`. */
  unit: string;
  /** Time from one value to the next, s; null for blocks. */
  stepSecs: number | null;
  /** Times of the values, oldest first, s since 1970-01-01 UTC. */
  times: number[];
  /** The values; null where none was shown without a mark. Heights for blocks. */
  values: (number | null)[];
}

/** Which connections are up, in the groups of older clients. */
export interface Connections {
  /** The source of prices. */
  price: boolean;
  /** The source of blocks. */
  blocks: boolean;
  /** The relay. */
  V2: boolean;
  /** Nostr, for data or zaps. */
  nostr: boolean;
  /** The wallet. */
  nwc: boolean;
}

/** An English sentence in its parts, for translation. */
export interface Phrase {
  /** The sentence, with `{name}` where a value belongs. */
  words: string;
  /** The values by name. */
  values: Record<string, PhraseValue>;
}

/** Do Not Disturb. */
export interface DndStatus {
  /** Whether Do Not Disturb was switched on by hand. */
  enabled: boolean;
  /** Whether the schedule is enabled. */
  dndTimeEnabled: boolean;
  /** The same as `dndTimeEnabled`. */
  timeBasedEnabled: boolean;
  /** Start of the schedule, `H:MM`. */
  startTime: string;
  /** End of the schedule, `H:MM`. */
  endTime: string;
  /** Whether Do Not Disturb is active now. */
  active: boolean;
}

/** Colour of an LED. */
export interface Led {
  /** Red. */
  red: number;
  /** Green. */
  green: number;
  /** Blue. */
  blue: number;
  /** The same colour in hex. */
  hex: string;
}

export type MuteReason = 'disableLeds' | 'dnd';

/** State of the frontlight. */
export interface FrontlightStatus {
  /** Whether the frontlight is on or fading on. */
  on: boolean;
  /** Duty of each channel. */
  duties: number[];
  /** Duty that the channels fade to. */
  targetDuty: number;
  /** Duty of full brightness. */
  configuredBrightness: number;
}

/** A panel with a fault. */
export interface PanelFailure {
  /** Index of the panel; 0 is the leftmost. */
  panel: number;
  /** Fault of the panel. */
  fault: PanelFault;
  /** What happened and what to do, as sentences for people. */
  says: string;
  /** Failed refreshes since the last successful one. */
  failures: number;
}

/** The newest values of the market; absent if not known. */
export interface MarketStatus {
  /** Block height. */
  height?: MarketValue;
  /** Fee rate, sat/vB. */
  feeRate?: MarketValue;
  [name: string]: MarketValue | undefined;
}

/** The newest values of the owner's own sources; absent if not known or if the source is switched off. */
export interface FigureValues {
  /** Hashrate at the pool, hashes per second. */
  poolHashrate?: MarketValue;
  /** Earnings at the pool, sats a day. */
  poolEarnings?: MarketValue;
  /** Workers at the pool. */
  poolWorkers?: MarketValue;
  /** Hashrate of the miner, hashes per second. */
  minerHashrate?: MarketValue;
  /** Best difficulty of the miner. */
  minerBest?: MarketValue;
  /** Balance of the wallet, sats. */
  walletBalance?: MarketValue;
}

/** Quality of the values, and the claims of each source. */
export interface TruthStatus {
  /** The block height. */
  height: HeightStatus;
  /** The fee rate. */
  fee: FeeStatus;
  /** Prices by currency. */
  prices: Record<string, PriceStatus>;
  /** The time. */
  time: TimeStatus;
}

/** The network of the clock. */
export interface LinkStatus {
  /** `idle`, `connecting`, `connected`, `disconnected` or `access-point`. */
  state: string;
  /** Manager of the network: `radio` if the clock manages it. */
  network: 'host' | 'radio';
  /** Name of the network; empty on a wire. */
  ssid: string;
  /** IP address; empty if there is none. */
  ip: string;
  /** Strength of the radio signal, dBm; 0 when not joined. */
  rssi: number;
  /** Last error; null while joined. */
  failure: string | null;
  /** Host name that is announced on the local network; null if the clock is not announced. */
  announced: string | null;
}

/** State of a panel. */
export interface PanelStatus {
  /** Time since the last refresh, s; absent before the first one. */
  ageSec?: number;
  /** Kind of the last refresh; absent before the first one. */
  refresh?: Refresh;
  /** Partial refreshes since the last full one. */
  partials: number;
  /** Partial refreshes after which a full one is due, at the next quiet moment; 0 for no limit. */
  partialsMax: number;
  /** Refreshes since the start. */
  refreshes: PanelRefreshes;
  /** Fault of the panel; null without a fault. */
  fault: PanelFault | null;
  /** Failed refreshes since the last successful one. */
  failures: number;
  /** Time until the next attempt, s; absent if none is scheduled. */
  nextTrySec?: number;
}

/** State of a connection. */
export interface SourceStatus {
  /** Whether the connection works. */
  up: boolean;
  /** Time since the last useful message, s; absent before the first one. */
  ageSec?: number;
  /** Last error, as a text for people. */
  lastError?: string;
  /** Time until the next attempt, s. */
  nextTrySec?: number;
  /** Number of dropped messages, by reason. */
  dropped?: Record<string, number>;
}

/** Number of times that a queue was full since the start. */
export interface QueueDrops {
  /** Always 0: buttons wait for a place in the inbox. */
  buttons: number;
  /** Effects of the LED strip. */
  led: number;
  /** Always 0: the frontlight has no queue. */
  frontlight: number;
}

/** Result of the release checks. */
export interface ReleaseStatus {
  /** Error of the last release check; null if it succeeded. */
  lastError: string | null;
  /** The result as sentences in English. */
  says: string;
  /** The same sentences in their parts. */
  phrase: Phrase;
  /** Its version. */
  version?: string;
  /** Its title. */
  title?: string;
  /** Its page. */
  url?: string;
  /** Whether the clock can install the release. */
  taken?: boolean;
  /** Why the clock cannot install the release; null if it can. */
  why?: ReleaseRefusal | null;
  /** Number of the clock for a staged release; the clock installs it if the number is below the share. */
  number?: number;
  /** Time since the last successful check, s; absent before the first one. */
  ageSec?: number;
}

/** The program that runs, and the keys that sign updates. */
export interface FirmwareStatus {
  /** Origin of the running program. */
  running: 'factory' | 'a' | 'b';
  /** Its version. */
  version: string;
  /** Whether the program is on trial after an update. */
  trial: boolean;
  /** Error of the last update; null if it succeeded. */
  lastFailure: string | null;
  /** Whether updates must be signed. */
  signed: boolean;
  /** Number of trusted keys. */
  keys: number;
  /** What updates the clock, such as an app store; null if the clock updates itself. */
  managedBy: string | null;
}

/** A line of the log. */
export interface LogLine {
  /** When it was written, as in RFC 3339. */
  time: string;
  /** Level of the line. */
  level: LogLevel;
  /** The message. */
  text: string;
}

/** The clock that settings were exported from. */
export interface SettingsOrigin {
  /** Name of the clock. */
  clock: string;
  /** Word for its board. */
  board: string;
  /** Version of its program. */
  firmware: string;
  /** Time of the export, as in RFC 3339; null if the time was unknown. */
  time: string | null;
}

/** A setting that differs. */
export interface ChangedSetting {
  /** Name of the setting. */
  name: string;
  /** Value before the import; absent if it is secret. */
  old?: unknown;
  /** Value after the import; absent if it is secret. */
  new?: unknown;
  /** Whether the setting is secret. */
  secret?: true;
}

/** A panel that was painted. */
export interface PaintedPanel {
  /** Index of the panel, from 0. */
  panel: number;
  /** Kind of the refresh. */
  refresh: Refresh;
}

/** State of one simulated panel. */
export interface BenchPanelState {
  /** Full refreshes since the start. */
  full: number;
  /** Partial refreshes since the start. */
  partial: number;
  /** Whether the busy line is high. */
  busy: boolean;
  /** Fault of the panel. */
  fault: SimFault;
}

/** State of the network. */
export type BenchLink = 'up' | 'down';

/** The access point, as shown on the panels. */
export interface AccessPointState {
  /** Name of the network. */
  ssid: string;
  /** Password of the network. */
  password: string;
  /** Address of the DNS server as `ADDRESS:PORT`, while it runs. */
  dns: string | null;
}

/** State of the power. */
export type PowerState = 'on' | 'cycling';

/** State of the relay of a demo. */
export type DemoRelayState = 'there' | 'gone';

/** A remote display. */
export interface RemoteDisplay {
  /** Id of the display, six hex digits. */
  id: string;
  /** Hardware address; null if the display sends none. */
  mac: string | null;
  /** Name of the display; empty by default. */
  name: string;
  /** `waiting` for approval, or `approved`. */
  state: string;
  /** Id of the approved display that this display replaces on approval, because their hardware addresses are equal. */
  replaces: string | null;
  /** Model; null if the display sends none. */
  model: string | null;
  /** Version of the firmware; null if the display sends none. */
  firmware: string | null;
  /** Width of the picture, px. */
  width: number;
  /** Height of the picture, px. */
  height: number;
  /** Bits per pixel. */
  depth: number;
  /** Clockwise rotation of the picture, degrees. */
  rotate: number;
  /** Layout: `auto`, which is `figure`; `board`; `cells`, or these as `row`, `two-rows` or `column`. */
  layout: string;
  /** Screens of its board in its newest picture; null if it has another layout, or no picture was drawn. */
  tiles: ShownTiles | null;
  /** White on black; null: as on the panels. */
  dark: boolean | null;
  /** Content: the `clock`, one `screen`, or a `rotation` of its own. */
  content: string;
  /** Ids of the screens. */
  screens: number[];
  /** Accepted age of a picture, min. */
  intervalMin: number;
  /** Battery; null if the display reports none. */
  battery: DisplayBattery | null;
  /** Strength of the Wi-Fi signal, dBm; null if the display sends none. */
  rssi: number | null;
  /** Time since the last contact, s; null before the first contact since the start. */
  lastContactSec: number | null;
  /** Time until the expected next contact, s; null if unknown. */
  nextContactSec: number | null;
  /** The newest log lines, oldest first. */
  log: DisplayLog[];
  /** Token of the display, only in the answer that adds the display. */
  token?: string;
}

export type RecordedSeries = 'price' | 'fee' | 'blocks';

export type Span = 'day' | 'year';

/** A value in a sentence. */
export type PhraseValue = string | { number: string } | Phrase;

export type PanelFault = 'busy-stuck' | 'started-busy' | 'not-refreshed' | 'slow' | 'bus';

/** A value with its source. */
export interface MarketValue {
  /** The value. */
  value: number | string;
  /** Source of the value. */
  source: SourceId;
  /** Age of the value, s; absent for a value of an earlier run. */
  ageSec?: number;
  /** Whether the value was received in an earlier run. */
  earlierRun?: boolean;
  /** State of the value, as in `truth`; absent for figures. */
  state?: string;
}

/** Quality of the block height. */
export interface HeightStatus {
  /** State of the value. */
  state: HeightState;
  /** Why the value is doubtful, since when and until when, in English; absent if it is not. */
  says?: string;
  /** Name of the chain; `demo` if the blocks are invented. */
  chain: string;
  /** Height of the anchor, a block that is trusted without proof; null without an anchor. */
  anchor: number | null;
  /** Height of the best proven block; null if no block is proven. */
  proven: number | null;
  /** Hash of the best proven block. */
  tipHash: string | null;
  /** Time in the header of the best proven block, s since 1970-01-01 UTC. */
  tipTime: number | null;
  /** Work of the chain up to the best proven block, 64 hexadecimal digits. */
  chainWork: string | null;
  /** Public peers that have proven a block. */
  peers: number;
  /** Sources that have the best proven block. */
  agreeing: number;
  /** Reorganisations since the start. */
  reorgs: number;
  /** Depth of the last reorganisation, blocks. */
  lastReorgDepth: number;
  /** The newest proven block of each source. */
  proofs: ProvenHeight[];
  /** Heights that sources claim. */
  claimed: ClaimedHeight[];
  /** Age of the best proven block, s; absent if not known. */
  tipAgeSec?: number;
}

/** Quality of the fee rate. */
export interface FeeStatus {
  /** Whether the fee rate is fresh. */
  state: 'single' | 'stale';
  /** Source of the fee rate; null if no fee rate is known. */
  source: SourceId | null;
}

/** Quality of a price. */
export interface PriceStatus {
  /** State of the value. */
  state: PriceState;
  /** Why the value is doubtful, since when and until when, in English; absent if it is not. */
  says?: string;
  /** Source of the price. */
  source: SourceId;
  /** The price that is shown. */
  shown?: string;
  /** Time for which the price has been single or disputed, s; absent otherwise. */
  doubtedSec?: number;
  /** Difference between the highest and the lowest counted quote, per mille; null for fewer than two quotes. */
  spreadPermille?: number | null;
  /** All quotes, refused ones included. */
  voices?: PriceQuote[];
}

/** Quality of the time. */
export interface TimeStatus {
  /** State of the value. */
  state: TimeState;
  /** Earliest possible time by the newest blocks, s since 1970-01-01 UTC; null if too few blocks are known. */
  earliest: number | null;
}

export type Refresh = 'full' | 'partial';

/** Refreshes of a panel since the start. */
export interface PanelRefreshes {
  /** Full ones. */
  full: number;
  /** Partial ones. */
  partial: number;
  /** Failed ones. */
  failed: number;
  /** Time since the last full one, s; absent before the first one. */
  fullAgeSec?: number;
  /** Duration of the last full one, ms; absent before the first one. */
  fullMs?: number;
  /** Duration of the last partial one, ms; absent before the first one. */
  partialMs?: number;
}

export type ReleaseRefusal = 'not-newer' | 'channel' | 'pin' | 'share' | 'no-image' | 'unsigned' | 'failed' | 'left';

/** Level of a log line. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** A fault of a simulated panel. */
export type SimFault = 'none' | 'busy-stuck';

/** How many screens of a board had room. */
export interface ShownTiles {
  /** Number of screens that are shown, from the first on. */
  shown: number;
  /** Number of screens of the board. */
  of: number;
}

/** The battery of a remote display. */
export interface DisplayBattery {
  /** Voltage, V; null if unknown. */
  volts: number | null;
  /** Charge, percent; null if unknown. */
  percent: number | null;
  /** Whether the battery is being charged; null if unknown. */
  charging: boolean | null;
}

/** A line of the log of a remote display. */
export interface DisplayLog {
  /** When it was written, s since 1970-01-01 UTC; null if unknown. */
  at: number | null;
  /** Level of the line. */
  level: string;
  /** The message. */
  message: string;
}

export type SourceId = 'relay' | 'explorer' | 'exchange' | 'nostr' | 'zaps' | 'wallet' | 'pool' | 'miner' | 'node' | 'peers' | 'coinbase' | 'bitstamp' | 'bitfinex' | 'gemini';

export type HeightState = 'proven' | 'alone' | 'claimed' | 'disputed' | 'stale' | 'unknown';

/** A block that a source has proven. */
export interface ProvenHeight {
  /** The source. */
  source: SourceId;
  /** Height of the block. */
  value: number;
  /** Hash of the block. */
  hash: string;
}

/** A height that a source claims. */
export interface ClaimedHeight {
  /** The source. */
  source: SourceId;
  /** The height. */
  value: number;
  /** Time since the source first claimed it, s. */
  ageSec?: number;
}

export type PriceState = 'agreed' | 'single' | 'disputed' | 'stale';

/** A price that a source quotes. */
export interface PriceQuote {
  /** The source. */
  source: SourceId;
  /** The price. */
  value: string;
  /** Time since it was quoted, s. */
  ageSec: number;
  /** Whether it counts. */
  verdict: QuoteVerdict;
}

export type TimeState = 'bounded' | 'server' | 'host' | 'refused' | 'unknown';

export type QuoteVerdict = 'agrees' | 'apart' | 'old';
