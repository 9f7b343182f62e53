/** The warning sign on a label of the panels: its meaning, its cause, and what removes it. */
import { ago } from './age';
import table from '../screens.gen.json';
import { valueOf } from './market';
import { nameOfSource } from './sources';
import { truthLines, type SourceClaim } from './truth';
import type { MarketValue, Phrase, Status } from './documents.gen';
import { n, t } from './words';

export type Sign = 'alone' | 'disputed' | 'stale';

/** The signs by the sentence with which the description of the screen ends. */
const SIGNS: readonly [Sign, string][] = [
  ['stale', 'This is older than it should be.'],
  ['disputed', 'The sources disagree about this, or it cannot be.'],
  ['alone', 'Nothing proves this so far, or one source alone has it.'],
];

/** What removes a sign, by the reason in a line about its value, or else by the sign. */
const REMOVED: Record<string, string> = {
  alone: n('the sign goes away once another source confirms this.'),
  claimed: n('the sign goes away once a source proves this.'),
  untimed: n('the sign goes away once the clock knows the time.'),
  impossible: n('the sign goes away once a source reports a possible height.'),
  disputed: n('the sign goes away once most sources agree again.'),
  stale: n('the sign goes away with the next value.'),
};

/** The values that each screen shows, by the id of the screen. */
const VALUES: Readonly<Record<string, readonly string[]>> = table;

/** Keys in the status of these values; a price has its currency as key. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  height: ['height'],
  fee: ['feeRate'],
  pool: ['poolHashrate', 'poolEarnings'],
  miner: ['minerHashrate', 'minerBest'],
  balance: ['walletBalance'],
};

export interface Mark {
  sign: Sign;
  /** Why it is there, since when, and what removes it. */
  sentence: string;
  /** The values that the sources report. */
  claims: readonly SourceClaim[];
}

/** The sign that the panels show; null if there is none. `since` is the age of the status, s. */
export function markOf(status: Status, since = 0): Mark | null {
  const words = wordsOf(status.phrase);
  const found = SIGNS.find(([, sentence]) => words.includes(sentence));
  if (!found) return null;
  const [sign, sentence] = found;
  const shown = shownValues(status);
  const line = truthLines(status, since).find(({ id, state }) => shown.includes(id) && isReason(state, sign));
  const old = sign === 'stale' ? shown.map((id) => datumOf(status, id)).find(Boolean) : undefined;
  const why = old ? lastReport(old, since) : (line?.sentence ?? t(sentence));
  return {
    sign,
    sentence: `${why.replace(/\.$/, '')}; ${t(REMOVED[line?.reason ?? sign] ?? REMOVED[sign] ?? '')}`,
    claims: sign === 'stale' ? [] : (line?.claims ?? []),
  };
}

/** The English templates of a sentence and of the sentences nested in it. */
function wordsOf({ words, values }: Phrase): string[] {
  const inner = Object.values(values).flatMap((value) =>
    typeof value === 'object' && 'words' in value ? wordsOf(value) : [],
  );
  return [words, ...inner];
}

/** True if a state of a value causes a sign. A height without proof has the same sign as one from a single source. */
function isReason(state: string, sign: Sign): boolean {
  return sign === 'alone' ? ['alone', 'claimed'].includes(state) : state === sign;
}

/** Keys in the status of the values that the current screen shows. */
function shownValues({ currentScreen, currency }: Status): string[] {
  const values = VALUES[currentScreen] ?? [];
  return values.flatMap((value) => (value === 'price' ? [currency] : (KEYS[value] ?? [])));
}

function datumOf({ market, figures }: Status, id: string): MarketValue | undefined {
  const values: Record<string, MarketValue | undefined> = { ...figures, ...market };
  return values[id];
}

function lastReport({ source, ageSec, earlierRun }: MarketValue, since: number): string {
  const name = nameOfSource(source);
  if (earlierRun || ageSec === undefined)
    return t('It is from before the clock started; {name} has sent none since.', { name });
  return t('{name} sent it {ago}.', { name, ago: ago(ageSec + since) });
}

/** The value in the title of the page: the value of the screen, else a price, else the height. */
export function titleValue(status: Status, currencies: readonly string[] = []): string {
  const of = (id: string, round = (value: number) => value) =>
    status.market[id] ? valueOf(id, round(Number(status.market[id].value))) : '';
  const price = (currency: string) => of(currency, Math.trunc) && `${of(currency, Math.trunc)} ${currency}`;
  const ids = [...currencies, ...Object.keys(status.market)];
  const first = ids.find((id) => /^[A-Z]{3}$/.test(id) && id in status.market) ?? '';
  const height = of('height');
  const isOfHeight = !status.currency && shownValues(status).includes('height');
  return isOfHeight && height ? height : price(status.currency) || price(first) || height;
}
