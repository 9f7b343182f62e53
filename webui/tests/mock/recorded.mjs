// Responses and events of the program, recorded by its tests; the mock clock sends only documents of this form.
import { readFileSync } from 'node:fs';

export const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8'));

/** A document with some members replaced; throws for members that the program does not have. */
export function like(document, changes) {
  const copy = structuredClone(document);
  for (const [name, value] of Object.entries(changes)) {
    if (!(name in copy)) throw new Error(`the program knows no ${name}`);
    copy[name] = value;
  }
  return copy;
}
