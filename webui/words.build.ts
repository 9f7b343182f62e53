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

/** Words by which a setting is found, and those by which a section without settings is. */
const SEARCH = [/"search": "([^"]*)"/g, /search: n\('([^']*)'\)/g];

/** Where those sections are. */
const PLACES = 'lib/places.ts';

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

/** The English words by which settings and sections are found, which find them in every language. */
export function searches(folder = 'src'): Set<string> {
  const both = [SETTINGS, PLACES].map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  return new Set(SEARCH.flatMap((words) => [...both.matchAll(words)].map(([, text = '']) => text)));
}

/** Where the clock says why it threw a message away, and how that is written there. */
const REASONS: readonly [string, RegExp][] = [
  ['feeds/src', /\bMalformed\("([^"]+)"/g],
  ['papertick/src/sources', /\bMalformed\("([^"]+)"/g],
  ['papertick/src/doors/mqtt', /\bdrop_(?:one|many)\(\s*"([^"]+)"/g],
  ['interface/src/mqtt', /(?:\b(?:Err|Refused)\("|"(?=shared-))([a-z-]+)"/g],
];

/** What reads nothing that a source says. */
const NO_SOURCE = /^(multipart|release)\.rs$|^image\b/;

/** Why messages of sources and of the broker are thrown away. */
function reasons(crates: string): string[] {
  const found = REASONS.flatMap(([folder, written]) => {
    const files = readdirSync(join(crates, folder), { recursive: true, encoding: 'utf8' });
    const code = files
      .filter((file) => file.endsWith('.rs') && !NO_SOURCE.test(file))
      .map((file) => {
        const [shipped = ''] = readFileSync(join(crates, folder, file), 'utf8').split('#[cfg(test)]');
        return shipped;
      });
    return [...code.join('\n').matchAll(written)].map(([, word = '']) => word);
  });
  return [...new Set(found)];
}

/** What the clock says of texts that it does not store, without the name of the setting; a length is told before. */
function hints(settings: string): string[] {
  const read = (file: string) => readFileSync(join(settings, file), 'utf8');
  const forms = [...read('kinds/pem.rs').matchAll(/\bwhat: "([^"]+)"/g)].map(([, what = '']) => what);
  const said = [...read('reject.rs').matchAll(/"\{key\} (takes [^"]+)"/g)].map(([, text = '']) => text);
  const filled = said.flatMap((text) =>
    text.includes('{what}') ? forms.map((what) => text.replace('{what}', what)) : text,
  );
  return filled.filter((text) => !text.includes('{'));
}

/** What the clock says in English itself: names of screens, the words of their sentences, why it refuses and throws away. */
export function saidByClock(crates = '../crates'): string[] {
  const read = (file: string, from: string, to: string) =>
    (readFileSync(join(crates, 'device/src', file), 'utf8').split(from)[1] ?? '').split(to)[0] ?? '';
  const screens = read('screens/catalog.rs', 'pub static SCREENS', '\n];').matchAll(/\d+,\s*"([^"]+)"/g);
  const sentences = read('spoken.rs', '\nwords! {', '\n}').matchAll(/= "([^"]+)";/g);
  const told = [
    ...[...screens, ...sentences].map(([, text = '']) => text),
    ...reasons(crates),
    ...hints(join(crates, 'device/src/settings')),
  ];
  return told.filter((text) => /[a-z]/i.test(text.replace(/\{\w+\}/g, '')));
}

export function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
