/** Editing a custom text: one text per panel, and a cursor. */
import { characters } from './text';

export interface Page {
  /** A text per panel. */
  readonly cells: readonly string[];
  /** Panel of the cursor; 0 is the leftmost. */
  readonly at: number;
}

/** Longest text of a panel that the clock stores, bytes. */
export const CELL_MAX = 32;

/** Most texts that the clock stores. */
export const SAVED_TEXTS_MAX = 10;

/** Empty panels. */
export function blank(panels: number): Page {
  return { cells: Array.from({ length: panels }, () => ''), at: 0 };
}

/** A saved text, cut or padded to a number of panels. */
export function opened(cells: readonly string[], panels: number): Page {
  return { cells: Array.from({ length: panels }, (_, index) => cells[index] ?? ''), at: 0 };
}

/** Writes one character per panel from the cursor on; characters past the last panel are dropped. */
export function typed({ cells, at }: Page, text: string): Page {
  const letters = characters(text.replace(/\s/g, ' '));
  const written = cells.map((cell, index) => letters[index - at]?.trim() ?? cell);
  return { cells: written, at: Math.min(at + letters.length, cells.length - 1) };
}

/** Writes a whole text on the panel of the cursor, which does not move. */
export function put({ cells, at }: Page, text: string): Page {
  return { cells: cells.with(at, text), at };
}

/** Clears the panel of the cursor, or the panel before it if that one is empty. */
export function erased({ cells, at }: Page): Page {
  const from = cells[at] === '' ? Math.max(0, at - 1) : at;
  return { cells: cells.with(from, ''), at: from };
}

/** Moves the cursor to another panel. */
export function moved({ cells }: Page, to: number): Page {
  return { cells, at: Math.min(Math.max(to, 0), cells.length - 1) };
}

/** True if all panels are empty. */
export function isBlank({ cells }: Page): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** A saved text as one line. */
export function titled(cells: readonly string[]): string {
  const letters = cells.every((cell) => characters(cell).length <= 1);
  return cells
    .map((cell) => cell || ' ')
    .join(letters ? '' : ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
