/** Unsaved edits of the settings form, and the PATCH that saves them. */
import type { DndSettings, ScreenEntry, Settings } from './types';

/** Edited values by key; contains only values that differ from the stored ones. */
export type Edits = Readonly<Record<string, unknown>>;

/** Keys of the schedule within `dnd`; the clock accepts these only all together. */
const DND_TIMES = ['startHour', 'startMinute', 'endHour', 'endMinute'] as const;

/** The stored value that an edited one is compared with. */
export function stored(settings: Settings, key: string): unknown {
  if (key === 'timePerScreen') return Number(settings.timerSeconds ?? 0) / 60;
  return settings[key];
}

/** The value that the form shows: the edited one, else the stored one. */
export function shown(settings: Settings, edits: Edits, key: string): unknown {
  return key in edits ? edits[key] : stored(settings, key);
}

/** The edits with one more value; a value equal to the stored one removes the edit. */
export function edited(settings: Settings, edits: Edits, key: string, value: unknown): Edits {
  const { [key]: _, ...rest } = edits;
  return same(value, stored(settings, key)) ? rest : { ...rest, [key]: value };
}

/** True if two values are equal as JSON, regardless of the order of members. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length || Array.isArray(one) !== Array.isArray(other)) return false;
  return keys.every((key) => same((one as Settings)[key], (other as Settings)[key]));
}

/** The PATCH document of the edits: only changed members, in the form that the API expects. */
export function patchOf(settings: Settings, edits: Edits): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(edits)) {
    if (key === 'screens') patch.screens = screensPatch(settings.screens, value as ScreenEntry[]);
    else if (key === 'dnd') patch.dnd = dndPatch(settings.dnd, value as DndSettings);
    else patch[key] = value;
  }
  return patch;
}

/** Lists every screen if the order changed; otherwise only the screens whose visibility changed. */
function screensPatch(before: readonly ScreenEntry[], after: readonly ScreenEntry[]): unknown[] {
  const moved = after.length !== before.length || after.some(({ id }, place) => id !== before[place]?.id);
  if (moved) return after.map(({ id, enabled }, order) => ({ id, enabled, order }));
  return after
    .filter(({ enabled }, place) => enabled !== before[place]?.enabled)
    .map(({ id, enabled }) => ({ id, enabled }));
}

function dndPatch(before: DndSettings, after: DndSettings): Partial<DndSettings> {
  const patch: Partial<DndSettings> = {};
  if (after.enabled !== before.enabled) patch.enabled = after.enabled;
  if (after.dndTimeEnabled !== before.dndTimeEnabled) patch.dndTimeEnabled = after.dndTimeEnabled;
  if (DND_TIMES.some((key) => after[key] !== before[key])) {
    for (const key of DND_TIMES) patch[key] = after[key];
  }
  return patch;
}

/**
 * Applies the edits to newer settings. Drops an edit whose value is stored by now; `both` has the keys that were
 * changed here and by another client.
 */
export function rebase(edits: Edits, old: Settings, fresh: Settings): { edits: Edits; both: string[] } {
  let remaining: Edits = {};
  const both: string[] = [];
  for (const [key, value] of Object.entries(edits)) {
    const merged = key === 'screens' ? sameScreens(value as ScreenEntry[], fresh.screens) : value;
    remaining = edited(fresh, remaining, key, merged);
    if (key in remaining && !same(stored(old, key), stored(fresh, key))) both.push(key);
  }
  return { edits: remaining, both };
}

/** The edited order and visibility, without removed screens and with new screens at the end. */
function sameScreens(after: readonly ScreenEntry[], fresh: readonly ScreenEntry[]): ScreenEntry[] {
  const known = new Map(fresh.map((entry) => [entry.id, entry]));
  const remaining = after.filter(({ id }) => known.has(id));
  const added = fresh.filter(({ id }) => !remaining.some((entry) => entry.id === id));
  return [...remaining, ...added].map((entry, order) => ({ ...known.get(entry.id)!, enabled: entry.enabled, order }));
}

/** A list with one entry moved to another index. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = [...list];
  const [entry] = rest.splice(from, 1);
  if (entry !== undefined) rest.splice(Math.max(0, Math.min(to, rest.length)), 0, entry);
  return rest;
}
