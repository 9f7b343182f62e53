/** Writing on the panels: a text per panel, and the panel that is written on. */
import { characters } from './text';

export interface Page {
  /** A text per panel. */
  readonly cells: readonly string[];
  /** The panel that is written on; 0 is the leftmost. */
  readonly at: number;
}

/** Longest text of a panel that the clock keeps, bytes. */
export const CELL_MAX = 32;

/** Texts that the clock keeps at most. */
export const KEPT_MAX = 10;

/** Empty panels. */
export function blank(panels: number): Page {
  return { cells: Array.from({ length: panels }, () => ''), at: 0 };
}

/** A text that was kept, on a clock with so many panels. */
export function opened(cells: readonly string[], panels: number): Page {
  return { cells: Array.from({ length: panels }, (_, index) => cells[index] ?? ''), at: 0 };
}

/** Writes characters from the panel on, one on each; what does not fit is left out. */
export function typed({ cells, at }: Page, text: string): Page {
  const letters = characters(text.replace(/\s/g, ' '));
  const written = cells.map((cell, index) => letters[index - at]?.trim() ?? cell);
  return { cells: written, at: Math.min(at + letters.length, cells.length - 1) };
}

/** Puts a whole text on the panel, and stays there. */
export function put({ cells, at }: Page, text: string): Page {
  return { cells: cells.with(at, text), at };
}

/** Takes away what is on the panel, or on the one before it where there is nothing. */
export function erased({ cells, at }: Page): Page {
  const from = cells[at] === '' ? Math.max(0, at - 1) : at;
  return { cells: cells.with(from, ''), at: from };
}

/** Goes to another panel. */
export function moved({ cells }: Page, to: number): Page {
  return { cells, at: Math.min(Math.max(to, 0), cells.length - 1) };
}

/** Tells whether all panels are empty. */
export function isBlank({ cells }: Page): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** A kept text as people read it. */
export function titled(cells: readonly string[]): string {
  const letters = cells.every((cell) => characters(cell).length <= 1);
  return cells
    .map((cell) => cell || ' ')
    .join(letters ? '' : ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
