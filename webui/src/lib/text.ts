/** Custom text: one character per panel. */

/** The characters of a text as the clock splits it: by code point. */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** Truncates a text to the number of panels. */
export function cut(text: string, panels: number): string {
  return characters(text).slice(0, panels).join('');
}
