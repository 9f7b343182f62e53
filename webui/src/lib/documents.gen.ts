/** The documents of the clock. Generated from the types in `crates/api`. */

/** The status of the clock. */
export interface Status {
  /** Id of the current screen of the rotation, whatever covers it. */
  currentScreen: number;
  /** Number of panels. */
  numScreens: number;
  /** The rotation timer runs. */
  timerRunning: boolean;
  /** An update is being installed. */
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
  /** Light in the room, lux; absent without a sensor that answers. */
  lightLevel?: number;
  /** Colours of the LEDs, leftmost first, before brightness. */
  leds: Led[];
  /** Why the LEDs are dark whatever their colours; null if they are not muted. */
  ledsMuted: MuteReason | null;
  /** The frontlight; absent on boards without one. */
  frontlight?: FrontlightStatus;
  /** Duty of each frontlight channel; absent on boards without a frontlight. */
  flStatus?: number[];
  /** What is visible, such as `rotation`, `zap` or `update`. */
  mode: string;
  /** A value on the panels is older than its source's limit. */
  stale: boolean;
  /** Sources disagree about a value on the panels. */
  disputed: boolean;
  /** Changed settings that take effect at the next start. */
  restartFor: string[];
  /** Panels with a fault; they show an older picture than the others. */
  panelFaults: PanelFailure[];
  /** What went wrong, in words for people. */
  notes: string[];
  /** The newest values. */
  market: MarketStatus;
  /** The newest values of the owner's mining pool, miner and wallet. */
  figures: FigureValues;
  /** How good the values are. */
  truth: TruthStatus;
  /** Why the clock runs without its sources, in words for people; null if it runs as usual. */
  safeMode: string | null;
  /** The network. */
  link: LinkStatus;
  /** Version of the settings document. */
  settingsTag: string;
  /** Time since the start, s. */
  espUptime: number;
  /** Available memory. */
  espFreeHeap: number;
  /** All memory. */
  espHeapSize: number;
  /** The least memory that was available since the start. */
  espMinFreeHeap: number;
  /** Largest piece that can be had. */
  espLargestFreeBlock: number;
  /** Free memory beyond that, such as swap. */
  espFreePsram: number;
  /** All memory beyond that. */
  espPsramSize: number;
  /** The panels, leftmost first. */
  panels: PanelStatus[];
  /** The sources that should run, by name. */
  sources: Record<string, SourceStatus>;
  /** The time server; null before it was asked. */
  timeServer: SourceStatus | null;
  /** The owner's MQTT broker; null if the settings want none. */
  mqtt: SourceStatus | null;
  /** The owner's proxy; null if no proxy is in use. */
  proxy: SourceStatus | null;
}

/** The status of the hardware and the program. */
export interface SystemStatus {
  /** Available memory. */
  espFreeHeap: number;
  /** All memory. */
  espHeapSize: number;
  /** The least memory that was available since the start. */
  espMinFreeHeap: number;
  /** Largest piece that can be had. */
  espLargestFreeBlock: number;
  /** Free memory beyond that, such as swap. */
  espFreePsram: number;
  /** All memory beyond that. */
  espPsramSize: number;
  /** Used space of the disk, bytes. */
  fsUsedBytes: number;
  /** Size of the disk, bytes. */
  fsTotalBytes: number;
  /** Strength of the radio signal, dBm; 0 without a radio. */
  rssi: number;
  /** Transmit power, quarter-dBm. */
  txPower: number;
  /** How often a queue was full since the start. */
  queueDrops: QueueDrops;
  /** Time since the start, s. */
  uptime: number;
  /** The newest release and whether the clock takes it; null if none was looked for or found. */
  release: ReleaseStatus | null;
  /** The program that runs. */
  firmware: FirmwareStatus;
}

/** The last lines of the log. */
export interface Log {
  /** The lines, oldest first. */
  lines: LogLine[];
  /** Number of dropped lines before them. */
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
  /** What became of the secrets. */
  secrets: SecretsState;
  /** The settings that differ. */
  changes: ChangedSetting[];
  /** Names of the file that this version does not know. */
  unknown: string[];
  /** Settings that the file does not have; they stay as they are. */
  missing: string[];
  /** Values that were not used as written, in words for people. */
  notes: string[];
  /** Why the file is refused; empty if it is accepted. */
  refused: ErrorBody[];
  /** Part of it takes effect at the next start. */
  rebootRequired: boolean;
  /** The settings were changed. */
  applied: boolean;
}

/** Why a request is refused. */
export interface ErrorBody {
  /** Token for programs. */
  error: string;
  /** The reason for people; absent if the token says it all. */
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

/** All signals of a simulated board, and what else a client can change there. */
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
  /** Numbers of the buttons that are down; the first is 1. */
  buttons: number[];
  /** Light, lux; null without a sensor. */
  lux: number | null;
  /** The network. */
  link: BenchLink;
  /** Name of the network that a simulated radio has joined. */
  network: string | null;
  /** The access point, if the simulated radio is one. */
  access_point: AccessPointState | null;
  /** The power. */
  power: PowerState;
  /** Whether the relay of a demo is there; null on a clock that is no demo. */
  demo_relay: DemoRelayState | null;
}

/** All remote displays. */
export interface DisplayList {
  /** The approved ones, then those that wait for approval. */
  displays: RemoteDisplay[];
  /** Most displays that there can be. */
  max: number;
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
  /** Switched on by hand. */
  enabled: boolean;
  /** The schedule is on. */
  dndTimeEnabled: boolean;
  /** The same as `dndTimeEnabled`. */
  timeBasedEnabled: boolean;
  /** Start of the schedule, `H:MM`. */
  startTime: string;
  /** End of the schedule, `H:MM`. */
  endTime: string;
  /** It is active now. */
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
  /** It is on, or about to be. */
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
  /** Its place, 0 is the leftmost. */
  panel: number;
  /** What is wrong with it. */
  fault: PanelFault;
  /** Failed refreshes since its last good one. */
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

/** How good the values are, and what each source says. */
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
  /** Manager of the network: `radio` if it is the clock. */
  network: 'host' | 'radio';
  /** Name of the network; empty on a wire. */
  ssid: string;
  /** IP address; empty if there is none. */
  ip: string;
  /** Strength of the radio signal, dBm; 0 when not joined. */
  rssi: number;
  /** What went wrong last; null while joined. */
  failure: string | null;
  /** Host name that is announced on the local network; null if none is. */
  announced: string | null;
}

/** What is on a panel. */
export interface PanelStatus {
  /** Time since it was painted, s; absent before its first picture. */
  ageSec?: number;
  /** How it was painted last; absent before its first picture. */
  refresh?: Refresh;
  /** Partial refreshes since its last full one. */
  partials: number;
  /** What is wrong with it; null if nothing is. */
  fault: PanelFault | null;
  /** Failed refreshes since its last good one. */
  failures: number;
  /** Time until the next attempt, s; absent if none is scheduled. */
  nextTrySec?: number;
}

/** State of a connection. */
export interface SourceStatus {
  /** It works. */
  up: boolean;
  /** Time since it last sent something useful, s; absent if it has not. */
  ageSec?: number;
  /** Its last error, in words for people. */
  lastError?: string;
  /** Time until the next attempt, s. */
  nextTrySec?: number;
  /** How many of its messages were dropped, by reason. */
  dropped?: Record<string, number>;
}

/** How often a queue was full since the start. */
export interface QueueDrops {
  /** Always 0: buttons wait for a place in the inbox. */
  buttons: number;
  /** Effects of the LED strip. */
  led: number;
  /** Always 0: the frontlight has no queue. */
  frontlight: number;
}

/** What is known of releases. */
export interface ReleaseStatus {
  /** Why the last look at the releases failed; null if it did not. */
  lastError: string | null;
  /** All of it as sentences in English. */
  says: string;
  /** The same sentences in their parts. */
  phrase: Phrase;
  /** Its version. */
  version?: string;
  /** Its title. */
  title?: string;
  /** Its page. */
  url?: string;
  /** The clock takes it. */
  taken?: boolean;
  /** Why the clock does not take it; null if it does. */
  why?: ReleaseRefusal | null;
  /** The clock's number for it, which is below the share if it is the clock's turn. */
  number?: number;
  /** Time since the last successful look, s; absent if there was none. */
  ageSec?: number;
}

/** The program that runs, and the keys that sign updates. */
export interface FirmwareStatus {
  /** Where the running program comes from. */
  running: 'factory' | 'a' | 'b';
  /** Its version. */
  version: string;
  /** It has yet to prove that it works. */
  trial: boolean;
  /** Why the last update failed; null if it did not. */
  lastFailure: string | null;
  /** Updates must be signed. */
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
  /** How grave it is. */
  level: LogLevel;
  /** What it says. */
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
  /** When they were exported, as in RFC 3339; null if the clock did not know. */
  time: string | null;
}

/** State of the secrets of a settings file. */
export type SecretsState = 'absent' | 'closed' | 'opened';

/** A setting that differs. */
export interface ChangedSetting {
  /** Its name. */
  name: string;
  /** Value before the import; absent if it is secret. */
  old?: unknown;
  /** Value after the import; absent if it is secret. */
  new?: unknown;
  /** It is secret. */
  secret?: true;
}

/** A panel that was painted. */
export interface PaintedPanel {
  /** Its index, from 0. */
  panel: number;
  /** How it was painted. */
  refresh: Refresh;
}

/** State of one simulated panel. */
export interface BenchPanelState {
  /** Full refreshes since the start. */
  full: number;
  /** Partial refreshes since the start. */
  partial: number;
  /** Its busy line is high. */
  busy: boolean;
  /** What is wrong with it. */
  fault: SimFault;
}

/** State of the network. */
export type BenchLink = 'up' | 'down';

/** The access point, as shown on the panels. */
export interface AccessPointState {
  /** Its name. */
  ssid: string;
  /** Its password. */
  password: string;
  /** Address of the name server as `ADDRESS:PORT`, while there is one. */
  dns: string | null;
}

/** State of the power. */
export type PowerState = 'on' | 'cycling';

/** State of the relay of a demo. */
export type DemoRelayState = 'there' | 'gone';

/** A remote display. */
export interface RemoteDisplay {
  /** Its id, six hex digits. */
  id: string;
  /** Its hardware address; null if it sends none. */
  mac: string | null;
  /** Its name; empty until it has one. */
  name: string;
  /** `waiting` for approval, or `approved`. */
  state: string;
  /** Id of the approved display that it replaces when it is approved, because their hardware addresses are equal. */
  replaces: string | null;
  /** Word for its model; null if it sends none. */
  model: string | null;
  /** Version of its firmware; null if it sends none. */
  firmware: string | null;
  /** Width of its picture, px. */
  width: number;
  /** Height of its picture, px. */
  height: number;
  /** Bits per pixel. */
  depth: number;
  /** Turn of its picture, degrees clockwise. */
  rotate: number;
  /** Layout of the cells: `auto`, `row`, `two-rows` or `column`. */
  layout: string;
  /** White on black; null: as on the panels. */
  dark: boolean | null;
  /** What it shows: the `clock`, one `screen`, or a `rotation` of its own. */
  content: string;
  /** Ids of its screens. */
  screens: number[];
  /** Age of a picture that its owner accepts, min. */
  intervalMin: number;
  /** Its battery; null if it reports none. */
  battery: DisplayBattery | null;
  /** Strength of its Wi-Fi signal, dBm; null if it sends none. */
  rssi: number | null;
  /** Time since its last contact, s; null before the first one since the start. */
  lastContactSec: number | null;
  /** Time to its expected next contact, s; null if unknown. */
  nextContactSec: number | null;
  /** The newest lines of its log, oldest first. */
  log: DisplayLog[];
  /** Its token, only in the answer that adds it. */
  token?: string;
}

/** A value in a sentence. */
export type PhraseValue = string | { number: string } | Phrase;

export type PanelFault = 'busy-stuck' | 'started-busy' | 'not-refreshed' | 'bus';

/** A value with its source. */
export interface MarketValue {
  /** The value. */
  value: number | string;
  /** Its source. */
  source: SourceId;
  /** Time since it was learned, s; absent for a value of an earlier run. */
  ageSec?: number;
  /** It was learned before the clock started. */
  earlierRun?: boolean;
  /** How good it is, as in `truth`; absent for figures. */
  state?: string;
}

/** How good the block height is. */
export interface HeightStatus {
  /** How good it is. */
  state: HeightState;
  /** Name of the chain; `demo` if the blocks are invented. */
  chain: string;
  /** Height of the block that is taken for granted; null if there is none. */
  anchor: number | null;
  /** Height of the best proven block; null if no block is proven. */
  proven: number | null;
  /** Hash of that block. */
  tipHash: string | null;
  /** Time of that block as its miner wrote it, s since 1970-01-01 UTC. */
  tipTime: number | null;
  /** Work of the chain up to that block, 64 hexadecimal digits. */
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
  /** Time since the best proven block was made, s; absent if not known. */
  tipAgeSec?: number;
}

/** How good the fee rate is. */
export interface FeeStatus {
  /** Whether it is fresh. */
  state: 'single' | 'stale';
  /** Its source; null if no fee rate is known. */
  source: SourceId | null;
}

/** How good a price is. */
export interface PriceStatus {
  /** How good it is. */
  state: PriceState;
  /** Its source. */
  source: SourceId;
  /** The price that is shown. */
  shown?: string;
  /** From the lowest to the highest counted quote, thousandths; null for fewer than two. */
  spreadPermille?: number | null;
  /** All quotes, refused ones included. */
  voices?: PriceQuote[];
}

/** How good the time is. */
export interface TimeStatus {
  /** How good it is. */
  state: TimeState;
  /** The time cannot be earlier than this by the newest blocks, s since 1970-01-01 UTC; null if too few are known. */
  earliest: number | null;
}

export type Refresh = 'full' | 'partial';

export type ReleaseRefusal = 'not-newer' | 'channel' | 'pin' | 'share' | 'no-image' | 'unsigned' | 'failed' | 'left';

/** How grave a line of the log is. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** A fault of a simulated panel. */
export type SimFault = 'none' | 'busy-stuck';

/** The battery of a remote display. */
export interface DisplayBattery {
  /** Its voltage, V; null if unknown. */
  volts: number | null;
  /** Its charge, percent; null if unknown. */
  percent: number | null;
  /** It is being charged; null if unknown. */
  charging: boolean | null;
}

/** A line of the log of a remote display. */
export interface DisplayLog {
  /** When it was written, s since 1970-01-01 UTC; null if unknown. */
  at: number | null;
  /** Its level. */
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

export type QuoteVerdict = 'agrees' | 'apart' | 'out' | 'old';
