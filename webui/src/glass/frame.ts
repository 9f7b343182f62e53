/** Query for a picture in the size of a screen, what differs from the one before, and shifts against burn-in. */

export interface Size {
  width: number;
  height: number;
}

/** Bounds of a picture, px. */
const WIDTH = [200, 3840] as const;
const HEIGHT = [100, 2160] as const;

/** Depth of the picture, bits per pixel. */
const DEPTH = 8;

/** Side of the squares that are compared, px. */
export const SQUARE = 64;

/** Shifts of the picture against burn-in, px. */
const SHIFTS = [
  { x: 0, y: 0 },
  { x: 2, y: 1 },
  { x: 3, y: 3 },
  { x: 1, y: 2 },
  { x: -1, y: 3 },
  { x: -3, y: 1 },
  { x: -2, y: -1 },
  { x: -3, y: -3 },
  { x: 0, y: -2 },
  { x: 2, y: -3 },
  { x: 3, y: -1 },
] as const;

/** Query for a picture of a screen; a size above the limits of the clock is scaled down with the same aspect ratio. */
export function pictureQuery(
  { width, height }: Size,
  { screen, dark, layout }: { screen: string | null; dark?: boolean | undefined; layout?: string | null },
): string {
  const scale = Math.min(1, WIDTH[1] / width, HEIGHT[1] / height);
  const query = new URLSearchParams({
    width: String(Math.max(WIDTH[0], Math.round(width * scale))),
    height: String(Math.max(HEIGHT[0], Math.round(height * scale))),
    depth: String(DEPTH),
  });
  if (layout) query.set('layout', layout);
  if (screen !== null) query.set('screen', screen);
  if (dark !== undefined) query.set('dark', String(dark));
  return query.toString();
}

/** Upper left corners of the squares in which a picture differs from the one before; of all if that had another size. */
export function changedSquares(before: ImageData | undefined, after: ImageData): [x: number, y: number][] {
  const { width, height } = after;
  const isComparable = before?.width === width && before.height === height;
  const old = isComparable && new Uint32Array(before.data.buffer);
  const now = new Uint32Array(after.data.buffer);
  const changed: [number, number][] = [];
  for (let top = 0; top < height; top += SQUARE)
    for (let left = 0; left < width; left += SQUARE) {
      const [right, bottom] = [Math.min(left + SQUARE, width), Math.min(top + SQUARE, height)];
      let isEqual = !!old;
      for (let y = top; isEqual && y < bottom; y += 1)
        for (let at = y * width + left; old && at < y * width + right; at += 1) isEqual &&= old[at] === now[at];
      if (!isEqual) changed.push([left, top]);
    }
  return changed;
}

/** The shift for a minute. */
export function shiftAt(minute: number): { x: number; y: number } {
  return SHIFTS[minute % SHIFTS.length] ?? SHIFTS[0];
}
