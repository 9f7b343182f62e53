/** How a price has moved in a day. */
import type { ValueHistory } from './documents.gen';

/** The part of a history that is drawn. */
export type Day = Pick<ValueHistory, 'times' | 'values'>;

/** Least number of values of a line. */
const VALUES_MIN = 12;
const DAY_SECS = 86_400;
/** How far a value of a day ago may be from that moment, s. */
const TOLERANCE_SECS = 3_600;

/** Path of a day as a line in a box, from 0,0 at the top left to 1,1; empty if there are too few values. */
export function pathOf({ times, values }: Day): string {
  const known = values.filter((value) => value !== null);
  if (known.length < VALUES_MIN) return '';
  const low = Math.min(...known);
  const range = Math.max(...known) - low || 1;
  const begin = times.at(-1)! - DAY_SECS;
  const points = values.map((value, place) => {
    if (value === null) return '';
    const command = (values[place - 1] ?? null) === null ? 'M' : 'L';
    return `${command}${((times[place]! - begin) / DAY_SECS).toFixed(4)} ${(1 - (value - low) / range).toFixed(4)}`;
  });
  return points.join('');
}

/** The share by which a value differs from that of a day ago; null if one of them is unknown. */
export function changeOf({ times, values }: Day, newest: number): number | null {
  const begin = (times.at(-1) ?? 0) - DAY_SECS;
  const distance = (place: number) => Math.abs(times[place]! - begin);
  const [nearest = -1] = [...values.keys()]
    .filter((place) => values[place] !== null && distance(place) <= TOLERANCE_SECS)
    .sort((one, other) => distance(one) - distance(other));
  const before = values[nearest];
  return before && newest > 0 ? newest / before - 1 : null;
}
