// How the texts of the page are found in its sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A text that is translated where it stands: `t('…')`, or `n('…')` for one that is translated where it is shown. */
export const TEXT_HERE = /\b([tn])\(\s*(['"])((?:\\.|(?!\2).)*)\2/g;

/** Such a text alone between braces, not as the value of an attribute. */
export const ALONE = /([^=])\{t\((['"])((?:\\.|(?!\2).)*)\2\)\}/g;

/** Where the words of the page are. */
export const WORDS = '/src/lib/words';

/** The table of settings, whose words are told as texts of the page are. */
export const SETTINGS = 'settings.gen.json';

/** A text for people in that table. */
export const WORDS_OF_SETTINGS = /("(?:heading|help|label|search)": )("(?:\\.|[^"\\])*")/g;

/** Words by which a setting is found. */
const SEARCH = /"search": ("(?:\\.|[^"\\])*")/g;

/** The English texts of the page's sources, those of the table of settings first, each as often as it has it. */
export function texts(folder = 'src'): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|svelte)$/.test(file),
  );
  const found = files.flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(TEXT_HERE)]);
  const table = [...readFileSync(join(folder, SETTINGS), 'utf8').matchAll(WORDS_OF_SETTINGS)];
  const explained = table.map(([, , text = '']) => JSON.parse(text) as string);
  const others = new Set(found.map(([, , , text = '']) => unescaped(text)));
  explained.forEach((text) => others.delete(text));
  return [...explained, ...others];
}

/** The English words by which settings are found, which find them in every language. */
export function searches(folder = 'src'): Set<string> {
  const found = [...readFileSync(join(folder, SETTINGS), 'utf8').matchAll(SEARCH)];
  return new Set(found.map(([, text = '']) => JSON.parse(text) as string));
}

/** What the clock says in English itself: the names of the screens, and the words of their sentences. */
export function saidByClock(folder = '../crates/device/src'): string[] {
  const read = (file: string, from: string, to: string) =>
    (readFileSync(join(folder, file), 'utf8').split(from)[1] ?? '').split(to)[0] ?? '';
  const screens = read('screens/catalog.rs', 'pub static SCREENS', '\n];').matchAll(/\d+,\s*"([^"]+)"/g);
  const sentences = read('spoken.rs', '\nwords! {', '\n}').matchAll(/= "([^"]+)";/g);
  const told = [...screens, ...sentences].map(([, text = '']) => text);
  return told.filter((text) => /[a-z]/i.test(text.replace(/\{\w+\}/g, '')));
}

export function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
