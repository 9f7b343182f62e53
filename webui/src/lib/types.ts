/** The documents of the clock, as far as the page reads them. */

import type { Phrase } from './words';

export interface Led {
  red: number;
  green: number;
  blue: number;
  hex: string;
}

export interface DndStatus {
  enabled: boolean;
  dndTimeEnabled: boolean;
  startTime: string;
  endTime: string;
  active: boolean;
}

export interface FrontlightStatus {
  on: boolean;
  duties: number[];
  targetDuty: number;
  configuredBrightness: number;
}

/** A source of data; absent members are not known. */
export interface SourceStatus {
  up: boolean;
  /** Time since it last said something of use, s. */
  ageSec?: number;
  lastError?: string;
  /** Time until the next attempt, s. */
  nextTrySec?: number;
  /** How often something it sent was of no use, by reason. */
  dropped?: Record<string, number>;
}

/** A value of the market, or of what a source of the owner says. */
export interface Datum {
  value: number | string;
  source: string;
  /** Time since it was learned, s; absent for a value of an earlier run. */
  ageSec?: number;
  earlierRun?: boolean;
  /** How good it is, where that is told. */
  state?: string;
}

/** How good the height is, and who says what. */
export interface HeightTruth {
  state: string;
  /** The network; `demo` where blocks are invented. */
  chain: string;
  /** Sources that have the best block that is proven. */
  agreeing: number;
  proofs?: { source: string; value: number }[];
  claimed: { source: string; value: number }[];
}

/** How good a fee rate or a price is, and who says what. */
export interface QuoteTruth {
  state: string;
  voices?: { source: string; value: string; verdict: string }[];
}

/** The clock's network. */
export interface LinkStatus {
  state: string;
  /** `radio` where the clock manages it, else `host`. */
  network: string;
  ssid: string;
  failure: string | null;
}

export interface Status {
  currentScreen: number;
  numScreens: number;
  timerRunning: boolean;
  isOTAUpdating: boolean;
  espUptime: number;
  epdInverted?: boolean;
  espFreeHeap?: number;
  espHeapSize?: number;
  connectionStatus: Record<string, boolean | { url: string; connected: boolean }[]>;
  rssi: number;
  currency: string;
  data: string[];
  dnd: DndStatus;
  lightLevel?: number;
  leds: Led[];
  /** Why the LEDs are dark whatever their colours. */
  ledsMuted: 'disableLeds' | 'dnd' | null;
  frontlight?: FrontlightStatus;
  stale?: boolean;
  /** What the panels show, as a sentence in English. */
  says: string;
  /** The same in its parts. */
  phrase: Phrase;
  mode?: string;
  /** Version of the settings document. */
  settingsTag: string;
  /** Settings that were changed and are taken at the next restart. */
  restartFor: string[];
  /** What went wrong at the start, in words for people. */
  notes?: string[];
  sources: Record<string, SourceStatus>;
  /** The connection to the owner's broker; null while none is wanted. */
  mqtt?: SourceStatus | null;
  /** The owner's proxy; null while none is in use. */
  proxy?: SourceStatus | null;
  /** Why the clock runs with the least it can; null while it runs as it should. */
  safeMode?: string | null;
  /** Panels that show an older picture than they were told to; 0 is the leftmost. */
  panelFaults?: { panel: number; fault: string; failures?: number }[];
  /** What is on each panel, leftmost first. */
  panels?: PanelStatus[];
  link?: LinkStatus;
  /** The newest values: `height`, `feeRate`, and prices by currency. */
  market: Record<string, Datum>;
  /** What pool, miner and wallet say, told likewise. */
  figures?: Record<string, Datum>;
  /** How good the values are. */
  truth?: {
    height?: HeightTruth;
    fee?: QuoteTruth;
    prices?: Record<string, QuoteTruth>;
    time?: { state: string };
  };
}

export interface PanelStatus {
  /** Time since it was painted, s; absent before its first picture. */
  ageSec?: number;
  /** Partial refreshes since its last full one. */
  partials: number;
}

export interface ScreenEntry {
  id: number;
  name: string;
  enabled: boolean;
  order: number;
}

export interface DndSettings {
  enabled: boolean;
  dndTimeEnabled: boolean;
  startHour: number;
  startMinute: number;
  endHour: number;
  endMinute: number;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The settings document; what the form edits is read by key. */
export interface Settings {
  [key: string]: unknown;
  numScreens: number;
  screens: ScreenEntry[];
  actCurrencies: string[];
  availableCurrencies: string[];
  dnd: DndSettings;
}
