/** Finds a position in the window for a box that covers no control. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Distance from the edges of the window, and between two candidate positions, px. */
const MARGIN = 12;
const STEP = 8;

/** The lowest position where a box covers none of the others, or the position where it covers least. */
export function spotFor(
  { width, height }: { width: number; height: number },
  window: { width: number; height: number },
  others: readonly Box[],
): { left: number; top: number } {
  const end = Math.max(MARGIN, window.width - width - MARGIN);
  const middle = Math.max(MARGIN, (window.width - width) / 2);
  let best = { left: middle, top: Math.max(MARGIN, window.height - height - MARGIN), covered: Infinity };
  for (let top = best.top; top >= MARGIN; top -= STEP) {
    for (const left of [middle, MARGIN, end]) {
      const box = { left, top, right: left + width, bottom: top + height };
      const covered = others.reduce((sum, other) => sum + overlap(box, other), 0);
      if (covered === 0) return { left, top };
      if (covered < best.covered) best = { left, top, covered };
    }
  }
  return { left: best.left, top: best.top };
}

/** Area of the intersection of two boxes. */
function overlap(one: Box, other: Box): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 0 && height > 0 ? width * height : 0;
}
