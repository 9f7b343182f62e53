// How the texts of the page are found in its sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A text that is translated where it stands: `t('…')`, or `n('…')` for one that is translated where it is shown. */
export const TEXT_HERE = /\b([tn])\(\s*(['"])((?:\\.|(?!\2).)*)\2/g;

/** Such a text alone between braces, not as the value of an attribute. */
export const ALONE = /([^=])\{t\((['"])((?:\\.|(?!\2).)*)\2\)\}/g;

/** Where the words of the page are. */
export const WORDS = '/src/lib/words';

/** The table of settings, whose explanations are told as texts of the page are. */
export const SETTINGS = 'settings.gen.json';

/** An explanation in that table. */
export const HELP = /("help": )("(?:\\.|[^"\\])*")/g;

/** The English texts of the page's sources. */
export function texts(folder = 'src'): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|svelte)$/.test(file),
  );
  const found = files.flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(TEXT_HERE)]);
  const help = [...readFileSync(join(folder, SETTINGS), 'utf8').matchAll(HELP)];
  const explained = help.map(([, , text = '']) => JSON.parse(text) as string);
  return [...new Set([...found.map(([, , , text = '']) => unescaped(text)), ...explained])];
}

export function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
