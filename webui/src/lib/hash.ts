/** How a text is named in the files of languages. */

/** A short name of a text: FNV-1a over its code units. */
export function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1) sum = Math.imul(sum ^ text.charCodeAt(place), 0x01000193);
  return (sum >>> 0).toString(36);
}
