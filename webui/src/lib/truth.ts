/** Verification of values: a sentence about the state of each value, and the claims of all sources. */
import { brief } from './age';
import { listed, localized, n, t } from './words';
import { valueOf } from './market';
import { nameOfSource } from './sources';
import type { HeightStatus, MarketValue, PriceStatus, Status } from './documents.gen';

/** A value as one source reports it. */
export interface SourceClaim {
  source: string;
  value: string;
  /** Result of the comparison with the shown value. */
  verdict: string;
  /** True if it agrees with the shown value. */
  good: boolean;
}

export interface TruthLine {
  /** Key of the value in the status; the code of the currency for a price. */
  id: string;
  name: string;
  /** State in the status, for CSS and tests. */
  state: string;
  /** Why the value has a sign: `untimed`, `impossible`, or else the state. */
  reason?: string;
  sentence: string;
  claims: SourceClaim[];
}

/** Sentences about the states of a height, and about two reasons for a doubt. */
const HEIGHTS: Record<string, string> = {
  untimed: n('The clock does not know the time yet: the block may be from the future.'),
  impossible: n('{value} from {source} is impossible: the chain had {anchor} blocks when this version was made.'),
  proven: n('{count} sources have this block, and the clock has checked the work in it.'),
  claimed: n('For {time}, nothing has proven {value} from {source}.'),
  disputed: n('The sources contradict each other, or report impossible values.'),
  stale: n('The block height is old: no source has reported a newer one.'),
  unknown: n('No height is known yet.'),
};

/** Sentences about the states of a fee rate or a price. */
const QUOTES: Record<string, string> = {
  agreed: n('{count} sources report nearly the same value; the clock shows the value of one of them.'),
  disputed: n('The sources contradict each other, or report impossible values.'),
  stale: n('This is old: no source has reported a newer value.'),
};

/** Of a height that the clock has checked, or a price. */
const ALONE = n('For {time}, {value} has come from {sources} alone.');
const CONTRADICTED = n('For {time}, {value} from {source} has been contradicted by {others}.');
const FEE = n('{value} comes from {source}; fee rates of other sources are not compared.');

const VERDICTS: Record<string, string> = {
  agrees: n('agrees'),
  apart: n('contradicts'),
  old: n('too old, not counted'),
};

/** Name of the invented chain of a demonstration. */
const DEMO = 'demo';

/** One line per value that the status contains verification data for; `since` is the age of the status, s. */
export function truthLines(status: Status, since = 0): TruthLine[] {
  const { height, fee, prices } = status.truth ?? {};
  if (!height) return [];
  const rate = fee && status.market.feeRate ? { feeRate: fee } : {};
  const quotes = height.chain === DEMO ? [] : Object.entries({ ...rate, ...prices });
  return [
    heightLine(height, status.market.height, since),
    ...quotes.map(([id, truth]) => quoteLine(id, truth, status.market[id], since)),
  ];
}

/** A span until now; it may be unknown. */
function spanOf(seconds: number | undefined, since: number): string {
  return seconds === undefined ? t('some time') : brief(seconds + since);
}

function heightLine(truth: HeightStatus, datum: MarketValue | undefined, since: number): TruthLine {
  const shown = Number(datum?.value);
  const proofs = (truth.proofs ?? []).map(({ source, value }) => ({ source, value, proven: true }));
  const proves = (source: string, value: number) => proofs.some((one) => one.source === source && one.value === value);
  const unproven = truth.claimed.filter(({ source, value }) => !proves(source, value));
  const isWithheld = truth.state === 'unknown' && unproven.length > 0;
  const rivals = (truth.proofs ?? []).filter(({ value, hash }) => value === shown && hash !== truth.tipHash);
  const others = [...unproven.filter(({ value }) => value !== shown), ...rivals];
  const ages = others.flatMap((claim) => ('ageSec' in claim && claim.ageSec !== undefined ? [claim.ageSec] : []));
  const provers = proofs.filter(({ value }) => value === shown);
  const facts = {
    value: localized(shown),
    source: nameOfSource(datum?.source ?? ''),
    sources: listed(provers.map(({ source }) => nameOfSource(source))),
    others: listed(others.map(({ source, value }) => `${nameOfSource(source)} (${localized(value)})`)),
    anchor: truth.anchor ?? 0,
    count: truth.agreeing,
    time: spanOf(truth.state === 'disputed' ? ages.sort((one, other) => other - one)[0] : datum?.ageSec, since),
  };
  const isBelowAnchor = truth.anchor !== null && shown < truth.anchor;
  const reason =
    truth.state === 'alone' && provers.length > 1
      ? 'untimed'
      : truth.state === 'disputed' && isBelowAnchor
        ? 'impossible'
        : truth.state;
  const words =
    reason === 'alone' && facts.sources
      ? ALONE
      : reason === 'disputed' && others.length > 0
        ? CONTRADICTED
        : HEIGHTS[reason];
  return {
    id: 'height',
    name: t('Block'),
    state: truth.state,
    reason,
    sentence:
      truth.chain === DEMO
        ? t('This is a demonstration: its blocks and prices are invented.')
        : isWithheld
          ? t('Sources report a height, but none is proven, and the settings allow only proven heights.')
          : t(words ?? '', facts),
    claims: [...proofs, ...unproven.map((claim) => ({ ...claim, proven: false }))].map((claim) => ({
      source: nameOfSource(claim.source),
      value: localized(claim.value),
      verdict: heightVerdict(claim.value - shown, claim.proven),
      good: claim.value === shown,
    })),
  };
}

function heightVerdict(off: number, proven: boolean): string {
  if (off === 0) return proven ? t('checked') : t('not proven');
  if (Number.isNaN(off)) return t('not shown');
  return off > 0 ? t('{count} ahead', { count: off }) : t('{count} behind', { count: -off });
}

function quoteLine(
  id: string,
  truth: Pick<PriceStatus, 'state'> & Partial<PriceStatus>,
  datum: MarketValue | undefined,
  since: number,
): TruthLine {
  const voices = truth.voices ?? [];
  const source = datum?.source ?? '';
  const agreeing = voices.filter((voice) => voice.verdict === 'agrees');
  const others = voices.filter((voice) => voice.verdict === 'apart' && voice.value !== datum?.value);
  const facts = {
    value: valueOf(id, datum?.value ?? '') + (id === 'feeRate' ? ' sat/vB' : ` ${id}`),
    source: nameOfSource(source),
    sources: listed((agreeing.length > 0 ? agreeing : [{ source }]).map((voice) => nameOfSource(voice.source))),
    others: listed(others.map((voice) => `${nameOfSource(voice.source)} (${valueOf(id, voice.value)})`)),
    count: agreeing.length,
    time: spanOf(truth.doubtedSec, since),
  };
  const words =
    truth.state === 'single'
      ? id === 'feeRate'
        ? FEE
        : ALONE
      : truth.state === 'disputed' && others.length > 0
        ? CONTRADICTED
        : QUOTES[truth.state];
  return {
    id,
    name: id === 'feeRate' ? t('Fee rate') : id,
    state: truth.state,
    sentence: t(words ?? '', facts),
    claims: voices.map(({ source, value, verdict }) => ({
      source: nameOfSource(source),
      value: valueOf(id, value),
      verdict: t(VERDICTS[verdict] ?? verdict),
      good: verdict === 'agrees',
    })),
  };
}
