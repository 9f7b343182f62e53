/** Verification of values: a sentence about the state of each value, and the claims of all sources. */
import { n, t } from './words';
import { grouped, valueOf } from './market';
import { nameOfSource } from './sources';
import type { HeightStatus, PriceStatus, Status } from './documents.gen';

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
  sentence: string;
  claims: SourceClaim[];
}

/** Sentences about the states of a height. */
const HEIGHTS: Record<string, string> = {
  proven: n('{count} sources have this block, and the clock has checked the work in it.'),
  alone: n('The clock has checked the work in this block, but only one source has it.'),
  claimed: n('A source reports this height; the clock has no proof of it.'),
  disputed: n('The sources contradict each other, or report impossible values.'),
  stale: n('The block height is old: no source has reported a newer one.'),
  unknown: n('No height is known yet.'),
};

/** Sentences about the states of a fee rate or a price. */
const QUOTES: Record<string, string> = {
  agreed: n('{count} sources report nearly the same value; the clock shows the value of one of them.'),
  single: n('One source reports this value; no other source has confirmed it.'),
  disputed: n('The sources contradict each other, or report impossible values.'),
  stale: n('This is old: no source has reported a newer value.'),
};

const VERDICTS: Record<string, string> = {
  agrees: n('agrees'),
  apart: n('contradicts'),
  out: n('too far off, not counted'),
  old: n('too old, not counted'),
};

/** Name of the invented chain of a demonstration. */
const DEMO = 'demo';

/** One line per value that the status contains verification data for. */
export function truthLines(status: Status): TruthLine[] {
  const { height, fee, prices } = status.truth ?? {};
  if (!height) return [];
  const rate = fee && status.market.feeRate ? { feeRate: fee } : {};
  const quotes = height.chain === DEMO ? [] : Object.entries({ ...rate, ...prices });
  const heightValue = Number(status.market.height?.value);
  return [heightLine(height, heightValue), ...quotes.map(([id, truth]) => quoteLine(id, truth))];
}

function heightLine(truth: HeightStatus, shown: number): TruthLine {
  const proofs = (truth.proofs ?? []).map(({ source, value }) => ({ source, value, proven: true }));
  const proves = (source: string, value: number) => proofs.some((one) => one.source === source && one.value === value);
  const unproven = truth.claimed.filter(({ source, value }) => !proves(source, value));
  const isWithheld = truth.state === 'unknown' && unproven.length > 0;
  return {
    id: 'height',
    name: t('Block'),
    state: truth.state,
    sentence:
      truth.chain === DEMO
        ? t('This is a demonstration: its blocks and prices are invented.')
        : isWithheld
          ? t('Sources report a height, but none is proven, and the settings allow only proven heights.')
          : t(HEIGHTS[truth.state] ?? '', { count: truth.agreeing }),
    claims: [...proofs, ...unproven.map((claim) => ({ ...claim, proven: false }))].map((claim) => ({
      source: nameOfSource(claim.source),
      value: grouped(claim.value),
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

function quoteLine(id: string, truth: Pick<PriceStatus, 'state' | 'voices'>): TruthLine {
  const voices = truth.voices ?? [];
  const count = voices.filter((voice) => voice.verdict === 'agrees').length;
  return {
    id,
    name: id === 'feeRate' ? t('Fee rate') : id,
    state: truth.state,
    sentence: t(QUOTES[truth.state] ?? '', { count }),
    claims: voices.map(({ source, value, verdict }) => ({
      source: nameOfSource(source),
      value: valueOf(id, value),
      verdict: t(VERDICTS[verdict] ?? verdict),
      good: verdict === 'agrees',
    })),
  };
}
