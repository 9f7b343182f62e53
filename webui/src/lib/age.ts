/** Spans of time in words. */
import { t } from './words';

const STEPS: readonly [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** A span as its largest unit, such as `3 min`. */
export function brief(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  for (const [size, unit] of STEPS) {
    if (whole >= size) return `${Math.floor(whole / size)} ${unit}`;
  }
  return '0 s';
}

/** A span as its two largest units, such as `2 d 4 h`. */
export function long(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const at = STEPS.findIndex(([size]) => whole >= size);
  if (at < 0) return '0 s';
  const [size, unit] = STEPS[at]!;
  const next = STEPS[at + 1];
  const first = `${Math.floor(whole / size)} ${unit}`;
  if (!next) return first;
  const rest = Math.floor((whole % size) / next[0]);
  return rest ? `${first} ${rest} ${next[1]}` : first;
}

/** How long ago, such as `just now` or `3 min ago`. */
export function ago(seconds: number): string {
  return seconds < 2 ? t('just now') : t('{age} ago', { age: brief(seconds) });
}
