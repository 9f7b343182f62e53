/** How the signals of a simulated clock look: light of the room, paper, frontlight and LEDs. */
import { t } from './words';

const DUTY_MAX = 4095;
const LUX_MOST = 10_000;
/** Decades of illuminance that the slider covers above zero. */
const DECADES = 5;
const STEPS = 100;

/** Illuminance at a slider position, lux: 0 at position 0, then 0.1 to 10 000 on a logarithmic scale. */
export function luxAt(place: number): number {
  if (place <= 0) return 0;
  const lux = LUX_MOST * 10 ** ((place / STEPS - 1) * DECADES);
  return Number(lux.toPrecision(2));
}

/** Slider position for an illuminance, 0 to 100. */
export function placeOf(lux: number): number {
  if (lux <= 0) return 0;
  const place = STEPS * (1 + Math.log10(lux / LUX_MOST) / DECADES);
  return Math.round(Math.min(STEPS, Math.max(1, place)));
}

/** An illuminance in words. */
export function roomOf(lux: number): string {
  if (lux < 1) return t('dark');
  if (lux < 20) return t('a lamp far away');
  if (lux < 150) return t('evening');
  if (lux < 1000) return t('a bright room');
  return t('daylight');
}

/** How bright the paper looks, 0 to 1, from the light of the room and the frontlight. */
export function paperLight(lux: number | null, duty: number): number {
  const room = lux === null ? 1 : 0.16 + 0.84 * Math.min(1, placeOf(lux) / 65);
  const front = duty > 0 ? 0.55 + 0.45 * (duty / DUTY_MAX) : 0;
  return Math.min(1, Math.max(room, front + room * 0.2));
}

/** How bright the frontlight looks, 0 to 1. */
export function shine(duty: number): number {
  return Math.min(1, Math.sqrt(Math.max(0, duty) / DUTY_MAX));
}

export interface Glow {
  /** The colour at full strength. */
  colour: string;
  /** Perceived brightness, 0 to 1. */
  strength: number;
}

/** An LED as hue and perceived brightness; a dim LED keeps its hue. */
export function glow(hex: string): Glow {
  const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) || 0);
  const most = Math.max(...parts);
  if (most === 0) return { colour: '#000000', strength: 0 };
  const [red, green, blue] = parts.map((part) => Math.round((part / most) * 255));
  return { colour: `rgb(${red} ${green} ${blue})`, strength: 0.25 + 0.75 * Math.sqrt(most / 255) };
}
