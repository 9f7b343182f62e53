/** The small sign on the label: what it means, why it is there, and what removes it. */
import { ago } from './age';
import { valueOf } from './market';
import { nameOfSource } from './sources';
import { truthLines, type TruthVoice } from './truth';
import type { MarketValue, Phrase, Status } from './documents.gen';
import { n, t } from './words';

export type Sign = 'alone' | 'disputed' | 'stale';

/** The signs by the words with which the clock's sentence ends. */
const SIGNS: readonly [Sign, string][] = [
  ['stale', 'This is older than it should be.'],
  ['disputed', 'The sources disagree about this, or it cannot be.'],
  ['alone', 'Nothing proves this so far, or one source alone has it.'],
];

const REMOVED: Record<Sign, string> = {
  alone: n('It goes away once a second source confirms the value.'),
  disputed: n('It goes away once most sources agree again.'),
  stale: n('It goes away with the next value.'),
};

/** Screens that show the height, or what follows from it. */
const HEIGHT = [0, 4, 40, 900];
/** Screens that show another value than height and price, by its name in the status. */
const FIGURES: Readonly<Record<number, string>> = {
  6: 'feeRate',
  70: 'poolHashrate',
  71: 'poolEarnings',
  80: 'minerHashrate',
  81: 'minerBest',
  90: 'walletBalance',
};

export interface Mark {
  sign: Sign;
  meaning: string;
  /** Why it is there; empty if the status does not say. */
  why: string;
  removed: string;
  /** All sources of the value. */
  voices: readonly TruthVoice[];
}

/** The sign that is on the glass; null if there is none. */
export function markOf(status: Status): Mark | null {
  const words = wordsOf(status.phrase);
  const found = SIGNS.find(([, sentence]) => words.includes(sentence));
  if (!found) return null;
  const [sign, sentence] = found;
  const shown = shownValues(status);
  const line = truthLines(status).find(({ id, state }) => shown.includes(id) && isReason(state, sign));
  const old = sign === 'stale' ? shown.map((id) => datumOf(status, id)).find(Boolean) : undefined;
  return {
    sign,
    meaning: t(sentence),
    // That the sources disagree is what the sign means; who says what stands beside it.
    why: old ? heard(old) : sign === 'disputed' ? '' : (line?.sentence ?? ''),
    removed: t(REMOVED[sign]),
    voices: sign === 'stale' ? [] : (line?.voices ?? []),
  };
}

/** The English words of a sentence and of the sentences in it. */
function wordsOf({ words, values }: Phrase): string[] {
  const inner = Object.values(values).flatMap((value) =>
    typeof value === 'object' && 'words' in value ? wordsOf(value) : [],
  );
  return [words, ...inner];
}

/** A height that is claimed is marked as one that a single source has. */
function isReason(state: string, sign: Sign): boolean {
  return sign === 'alone' ? ['alone', 'claimed', 'single'].includes(state) : state === sign;
}

/** The values on the glass, by their names in the status. */
function shownValues({ currentScreen, currency }: Status): string[] {
  if (HEIGHT.includes(currentScreen)) return ['height'];
  const figure = FIGURES[currentScreen];
  if (figure) return [figure];
  // The value of all bitcoin comes of price and height.
  return currency ? [currency, 'height'] : [];
}

function datumOf({ market, figures }: Status, id: string): MarketValue | undefined {
  const values: Record<string, MarketValue | undefined> = { ...figures, ...market };
  return values[id];
}

function heard({ source, ageSec, earlierRun }: MarketValue): string {
  const name = nameOfSource(source);
  if (earlierRun || ageSec === undefined)
    return t('It is from before the clock started; {name} has sent none since.', { name });
  return t('{name} sent it {ago}.', { name, ago: ago(ageSec) });
}

/** The value that a title of the page shows: that of the screen, else the price, else the height. */
export function titleValue(status: Status): string {
  const of = (id: string) => (status.market[id] ? valueOf(id, status.market[id].value) : '');
  const price = (currency: string) => (of(currency) ? `${of(currency).split('.')[0]} ${currency}` : '');
  const first = Object.keys(status.market).find((id) => /^[A-Z]{3}$/.test(id)) ?? '';
  const height = of('height');
  return HEIGHT.includes(status.currentScreen) && height ? height : price(status.currency) || price(first) || height;
}
