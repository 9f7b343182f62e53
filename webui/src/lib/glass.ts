/** Sizes of the panels on the page, and the `panels` events about repainted panels. */
import type { PaintedPanel, Refresh } from './documents.gen';

export interface Fit {
  /** Width of one panel, CSS px. */
  width: number;
  /** Height of one panel, CSS px. */
  height: number;
  /** Gap between panels, CSS px. */
  gap: number;
  /** Factor from panel pixels to canvas pixels; whole, so that every pixel stays a square. */
  canvas: number;
  /** One panel pixel is a whole number of device pixels. */
  exact: boolean;
}

/** Least share of the available width that a pixel-exact size must fill to be preferred. */
const EXACT_SHARE = 0.72;

/**
 * Fits `count` panels side by side into `room` CSS px at `ratio` device px per CSS px; a single one is at most `tall` CSS px
 * high.
 * Prefers an integer scale if it fills most of the width. Otherwise the panels fill the width, and the canvas is drawn
 * larger than it is shown.
 */
export function fit(
  count: number,
  panelWidth: number,
  panelHeight: number,
  room: number,
  ratio: number,
  tall = Infinity,
): Fit {
  const gapShare = 0.1;
  const units = count + (count - 1) * gapShare;
  const roomDevice = Math.max(
    1,
    Math.floor(Math.min(room, count === 1 ? (tall * panelWidth) / panelHeight : room) * ratio),
  );
  const scale = roomDevice / (units * panelWidth);
  const whole = Math.floor(scale);
  if (whole >= 1 && whole / scale >= EXACT_SHARE) {
    const gapDevice = Math.max(1, Math.round(panelWidth * whole * gapShare));
    if (count * panelWidth * whole + (count - 1) * gapDevice <= roomDevice) {
      return {
        width: (panelWidth * whole) / ratio,
        height: (panelHeight * whole) / ratio,
        gap: gapDevice / ratio,
        canvas: whole,
        exact: true,
      };
    }
  }
  const gapDevice = Math.max(1, Math.floor(panelWidth * scale * gapShare));
  const widthDevice = Math.max(1, Math.floor((roomDevice - (count - 1) * gapDevice) / count));
  return {
    width: widthDevice / ratio,
    height: Math.round((widthDevice * panelHeight) / panelWidth) / ratio,
    gap: gapDevice / ratio,
    canvas: Math.max(1, Math.ceil(widthDevice / panelWidth)),
    exact: false,
  };
}

/** Sizes of a panel until its picture is here, px: of a single one, of one of several. */
const SINGLE = { width: 800, height: 480 };
const SEVERAL = { width: 122, height: 250 };
/** Most width of the case, CSS px. */
const CASE_MOST = 1180;

/**
 * Fits panels into their case in a room of a width, CSS px; `rim` is left and right of them. A single panel is at most
 * `part` of the window high.
 */
export function inCase(
  count: number,
  picture: { width: number; height: number } | undefined,
  outer: number,
  ratio: number,
  part: number,
): Fit & { rim: number } {
  const rim = Math.round(Math.min(28, Math.max(8, outer * 0.024)));
  const room = Math.min(outer || 300, CASE_MOST) - 2 * rim;
  const { width, height } = picture ?? (count === 1 ? SINGLE : SEVERAL);
  return { ...fit(count, width, height, room, ratio, innerHeight * part), rim };
}

/** Repainted panels by kind of refresh. */
export interface Repainted {
  /** Panels with a full refresh, which flashes black and white. */
  full: number[];
  partial: number[];
}

/** Parses an `event: panels` frame; undefined if it is invalid: the caller should fetch all panels then. */
export function repainted(data: string): Repainted | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  const { panels } = (value ?? {}) as { panels?: unknown };
  if (!Array.isArray(panels) || !panels.every(isRefresh)) return undefined;
  const of = (wanted: Refresh) => panels.filter(({ refresh }) => refresh === wanted).map(({ panel }) => panel);
  return { full: of('full'), partial: of('partial') };
}

function isRefresh(value: unknown): value is PaintedPanel {
  const { panel, refresh } = (value ?? {}) as { [member in keyof PaintedPanel]?: unknown };
  return Number.isInteger(panel) && Number(panel) >= 0 && (refresh === 'full' || refresh === 'partial');
}
