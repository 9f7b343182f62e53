// What the program said when its tests recorded it; the clock of these tests says nothing in another form.
import { readFileSync } from 'node:fs';

export const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8'));

/** A document with some members replaced: all of them are members that the program knows. */
export function like(document, changes) {
  const copy = structuredClone(document);
  for (const [name, value] of Object.entries(changes)) {
    if (!(name in copy)) throw new Error(`the program knows no ${name}`);
    copy[name] = value;
  }
  return copy;
}
