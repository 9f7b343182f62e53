/** Names and values of settings as texts, for the form, imported files and conflicts. */
import { long } from './age';
import { titled } from './compose';
import { nameOfEntry } from './board';
import { choices, FIELDS, type Field } from './fields';
import type { DndSettings, ScreenEntry, Settings } from './types';
import { localized, n, t } from './words';

/** Symbols of units. */
const SIGNS: Record<string, string> = { percent: '%', 'per mille': '‰' };

/** Largest PWM duty with an effect. */
export const DUTY_MOST = 4095;

/** Value of `txPower` that leaves the power to the radio. */
export const OWN_POWER = 80;

/** The members of a field that determine how its values are formatted. */
type Shape = Partial<Pick<Field, 'control' | 'unit' | 'mute' | 'options' | 'choices'>>;

/** Stored settings without a field of the same key: the field that shows them, a name of their own, and their format. */
const STORED_ONLY: Record<string, Shape & { of?: string; name?: string }> = {
  timerSeconds: { of: 'timePerScreen', control: 'seconds' },
  timerActive: { name: n('Rotation') },
  screenOrder: { of: 'screens', control: 'order' },
  screensHidden: { name: n('Not in the rotation'), control: 'hidden' },
  dndEnabled: { name: n('Do Not Disturb') },
  dndTimeEnabled: { of: 'dnd' },
  dndStartHour: { of: 'dnd', name: n('From'), unit: 'h' },
  dndStartMin: { of: 'dnd', name: n('From'), unit: 'min' },
  dndEndHour: { of: 'dnd', name: n('To'), unit: 'h' },
  dndEndMin: { of: 'dnd', name: n('To'), unit: 'min' },
  boardScreens: { name: n('Screens on the board'), control: 'board' },
  keptTexts: { name: n('Saved texts'), control: 'texts' },
  // The welcome form is shown while this is false.
  welcomed: { name: n('Welcome'), mute: true },
};

const fieldOf = (key: string) => FIELDS.find((field) => field.key === key);

/** The name of a setting, or its key if it has no name. */
export function nameOf(key: string): string {
  const { of = key, name } = STORED_ONLY[key] ?? {};
  return [fieldOf(of)?.label, name && t(name)].filter(Boolean).join(': ') || key;
}

/** A value of a setting as text. */
export function wordedAs(key: string, value: unknown, settings: Settings): string {
  return worded(STORED_ONLY[key] ?? fieldOf(key) ?? {}, value, settings);
}

/** Symbol of the unit of a field. */
export function unitOf({ unit = '' }: Shape): string {
  return SIGNS[unit] ?? unit;
}

/** A PWM duty as a share of the largest one with an effect. */
export function percent(duty: unknown): string {
  return `${Math.round((Math.min(Number(duty), DUTY_MOST) / DUTY_MOST) * 100)} %`;
}

/** A colour in CSS notation. */
export function hex(colour: unknown): string {
  return `#${Number(colour ?? 0)
    .toString(16)
    .padStart(6, '0')}`;
}

/** A transmit power as text. */
export function power(quarters: unknown): string {
  return quarters == null || quarters === OWN_POWER
    ? t('As the radio chooses')
    : `${localized(Number(quarters) / 4)} dBm`;
}

/** A value of a field as text. */
function worded(field: Shape, value: unknown, settings: Settings): string {
  const { control, unit, mute = false } = field;
  if (control === 'txPower') return power(value);
  if (control === 'dnd') return quietHours(value as DndSettings);
  if (control === 'screens') return shownOf(value as ScreenEntry[]);
  if (control === 'order') return screensOf(value, settings) || t('as delivered');
  if (control === 'hidden') return screensOf(value, settings) || t('none');
  if (control === 'board') return (value as string[]).map((entry) => nameOfEntry(entry, settings)).join(' · ');
  if (Array.isArray(value)) {
    const one = (entry: unknown) => (control === 'texts' ? titled(entry as string[]) : worded(field, entry, settings));
    return value.map(one).join(', ') || t('none');
  }
  const known = field.options || field.choices ? choices(field, settings) : [];
  const chosen = known.find((choice) => choice.value === value);
  if (chosen) return chosen.label;
  if (value === '' || value == null) return t('nothing');
  if (typeof value === 'boolean') return value !== mute ? t('on') : t('off');
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value);
  if (control === 'color') return hex(value);
  if (control === 'minutes') return long(value * 60);
  if (control === 'seconds') return long(value);
  if (unit === 'PWM duty') return percent(value);
  // A number without a unit, such as a port, is a name more than an amount.
  return unit ? `${localized(value)} ${unitOf(field)}` : String(value);
}

/** Stored settings that are members of `dnd`, with their names in it. */
export const QUIET_HOURS: Readonly<Record<string, keyof DndSettings>> = {
  dndTimeEnabled: 'dndTimeEnabled',
  dndStartHour: 'startHour',
  dndStartMin: 'startMinute',
  dndEndHour: 'endHour',
  dndEndMin: 'endMinute',
};

/** The quiet hours; the times are shown even if they are off. */
export function quietHours(dnd: DndSettings): string {
  const { dndTimeEnabled, startHour, startMinute, endHour, endMinute } = dnd;
  const at = (hour: number, minute: number) => `${hour}:${String(minute).padStart(2, '0')}`;
  const times = `${at(startHour, startMinute)} – ${at(endHour, endMinute)}`;
  return dndTimeEnabled ? times : `${times} (${t('off')})`;
}

function shownOf(screens: readonly ScreenEntry[]): string {
  const shown = screens.filter(({ enabled }) => enabled);
  return shown.map(({ name }) => t(name)).join(', ') || t('none');
}

/** Names of screens by their ids, which are a list or separated by commas. */
function screensOf(ids: unknown, { screens }: Settings): string {
  const listed = String(ids).split(',').filter(Boolean).map(Number);
  const names = fieldOf('screens')?.names;
  const named = (id: number) => screens.find((screen) => screen.id === id)?.name ?? names?.[id] ?? `#${id}`;
  return listed.map((id) => t(named(id))).join(', ');
}
