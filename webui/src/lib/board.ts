/** The board: several screens in one picture. */
import table from '../screens.gen.json';
import { FIELDS, type Choice, type Field } from './fields';
import { screenWords } from './screens';
import type { Settings } from './types';
import { n, t } from './words';

/** Key of the setting: screens as `20`, or as `20:EUR` with a currency of their own. */
export const BOARD = 'boardScreens';

/** Bounds of the number of screens on a board. */
export const SCREENS_MIN = 2;
export const SCREENS_MAX = 8;

/** Layouts of a picture of the clock. */
export const LAYOUTS: Readonly<Record<string, string>> = {
  figure: n('one figure'),
  board: n('board'),
  cells: n('cells'),
};

/** Sizes of pictures, px. */
export const SIZES = [
  { width: 800, height: 480, name: 'TRMNL' },
  { width: 1920, height: 1080, name: n('television') },
  { width: 1280, height: 800, name: n('tablet') },
  { width: 600, height: 800, name: n('e-reader') },
  { width: 390, height: 844, name: n('phone') },
  { width: 400, height: 300, name: n('e-paper') },
  { width: 296, height: 128, name: n('e-paper') },
] as const;

/** The row of the board in the form of settings. */
export const FIELD: Field = {
  key: BOARD,
  label: t('Screens on the board'),
  help: t('The first is the largest. Drag a screen by its handle, or move it with the arrow keys.'),
  control: 'board',
  section: '',
  reboot: false,
  secret: false,
};

const VALUES: Readonly<Record<string, readonly string[]>> = table;

/** Id of the screen, and its currency; empty if that is the first one of the clock. */
export function partsOf(entry: string): { id: string; currency: string } {
  const [id = '', currency = ''] = entry.split(':');
  return { id, currency };
}

/** The screens of a board, each once; the first currency of the clock is not named. */
export function boardOf(stored: unknown, { actCurrencies }: Settings): string[] {
  const entries = (stored ?? []) as string[];
  return [
    ...new Set(entries.map((entry) => (partsOf(entry).currency === actCurrencies[0] ? partsOf(entry).id : entry))),
  ];
}

/** True if a screen shows a price. */
export function hasCurrency(id: string): boolean {
  return VALUES[id]?.includes('price') ?? false;
}

/** Name of an entry; it names its currency if that is not the first one. */
export function nameOfEntry(entry: string, settings: Settings): string {
  const { id, currency } = partsOf(entry);
  const known = FIELDS.find(({ key }) => key === 'screens')?.names?.[id] ?? `#${id}`;
  const { name, currency: unnamed } = screenWords(
    settings.screens.find((screen) => String(screen.id) === id) ?? { id: Number(id), name: known },
    currency || (settings.actCurrencies[0] ?? ''),
  );
  return currency && unnamed ? `${name}, ${currency}` : name;
}

/** A screen with each currency of the clock. */
function entriesOf(id: string, { actCurrencies }: Settings): string[] {
  return hasCurrency(id) ? actCurrencies.map((code, place) => (place === 0 ? id : `${id}:${code}`)) : [id];
}

/** True if the clock can show an entry: its screen is on, and its currency in use. */
export function isShown(entry: string, settings: Settings): boolean {
  const { id } = partsOf(entry);
  const isOn = settings.screens.some((screen) => String(screen.id) === id);
  return isOn && entriesOf(id, settings).includes(entry);
}

/** An entry with other currencies, as far as the board lacks these entries. */
export function currenciesOf(entry: string, board: readonly string[], settings: Settings): readonly Choice[] {
  const all = new Set([...entriesOf(partsOf(entry).id, settings), entry]);
  return [...all]
    .filter((other) => other === entry || !board.includes(other))
    .map((value) => ({ value, label: partsOf(value).currency || (settings.actCurrencies[0] ?? '') }));
}

/** The entries that can be added to a board: each screen with the first free currency. */
export function missingFrom(board: readonly string[], settings: Settings): readonly string[] {
  return settings.screens.flatMap(
    ({ id }) => entriesOf(String(id), settings).find((entry) => !board.includes(entry)) ?? [],
  );
}
