/** Which characters the panels can show. */
import drawn from '../glyphs.gen.json';
import { characters } from './text';

const RANGES = drawn as readonly number[][];

/** The characters of a text that no font has, each once, quoted and separated by commas; empty if there are none. */
export function missing(text: string): string {
  const gone = characters(text.replace(/^mdi:\S*$/, '')).filter((character) => !isDrawn(character.codePointAt(0) ?? 0));
  return [...new Set(gone)].map((character) => `“${character}”`).join(', ');
}

function isDrawn(code: number): boolean {
  return RANGES.some(([first = 0, last = -1]) => first <= code && code <= last);
}
