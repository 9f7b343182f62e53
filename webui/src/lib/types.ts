/** The parts of the settings document that the page reads. */

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

/** The settings document; the form reads its fields by key. */
export interface Settings {
  [key: string]: unknown;
  numScreens: number;
  screens: ScreenEntry[];
  actCurrencies: string[];
  availableCurrencies: string[];
  dnd: DndSettings;
}
