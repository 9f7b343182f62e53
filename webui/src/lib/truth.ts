/** Why a number can be trusted, in words: one sentence for each value, and all voices, refused ones included. */
import { n, t } from './words';
import { grouped, valueOf } from './market';
import { nameOfSource } from './sources';
import type { HeightStatus, PriceStatus, Status } from './documents.gen';

export interface TruthVoice {
  source: string;
  value: string;
  /** What became of it. */
  verdict: string;
  /** It agrees with what is shown. */
  good: boolean;
}

export interface TruthLine {
  /** Name of the value in the status; a price has that of its currency. */
  id: string;
  name: string;
  /** Word of the state, for the look of it. */
  state: string;
  sentence: string;
  voices: TruthVoice[];
}

/** What a height of each state is worth. */
const HEIGHTS: Record<string, string> = {
  proven: n('{count} sources have this block, and the clock has checked the work in it.'),
  alone: n('The clock has checked the work in this block, which one source alone has.'),
  claimed: n('A source says so; the clock has no proof of it.'),
  disputed: n('The sources contradict each other, or say what cannot be.'),
  stale: n('The block height is old: nobody has told a newer one.'),
  unknown: n('No height is known yet.'),
};

/** What a fee rate or a price of each state is worth. */
const QUOTES: Record<string, string> = {
  agreed: n('{count} sources say about the same; what is shown is what one of them says.'),
  single: n('One source says so; nobody else has confirmed it.'),
  disputed: n('The sources contradict each other, or say what cannot be.'),
  stale: n('This is old: nobody has said anything newer.'),
};

const STANDINGS: Record<string, string> = {
  agrees: n('agrees'),
  apart: n('contradicts'),
  out: n('too far off, not counted'),
  old: n('too old, not counted'),
};

/** The chain of a demonstration, where nothing has to be proven. */
const DEMO = 'demo';

/** The values of a status whose truth is told. */
export function truthLines(status: Status): TruthLine[] {
  const { height, fee, prices } = status.truth ?? {};
  if (!height) return [];
  const rate = fee && status.market.feeRate ? { feeRate: fee } : {};
  const told = height.chain === DEMO ? [] : Object.entries({ ...rate, ...prices });
  return [heightLine(height, Number(status.market.height?.value)), ...told.map(([id, truth]) => quoteLine(id, truth))];
}

function heightLine(truth: HeightStatus, shown: number): TruthLine {
  const proofs = (truth.proofs ?? []).map(({ source, value }) => ({ source, value, proven: true }));
  const proves = (source: string, value: number) => proofs.some((one) => one.source === source && one.value === value);
  const claims = truth.claimed.filter(({ source, value }) => !proves(source, value));
  const held = truth.state === 'unknown' && claims.length > 0;
  return {
    id: 'height',
    name: t('Block'),
    state: truth.state,
    sentence:
      truth.chain === DEMO
        ? t('This is a demonstration: its blocks and prices are invented.')
        : held
          ? t('Sources name a height, but none is proven, and you have chosen to see proven ones alone.')
          : t(HEIGHTS[truth.state] ?? '', { count: truth.agreeing }),
    voices: [...proofs, ...claims.map((claim) => ({ ...claim, proven: false }))].map((voice) => ({
      source: nameOfSource(voice.source),
      value: grouped(voice.value),
      verdict: heightVerdict(voice.value - shown, voice.proven),
      good: voice.value === shown,
    })),
  };
}

function heightVerdict(off: number, proven: boolean): string {
  if (off === 0) return proven ? t('checked') : t('says so');
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
    voices: voices.map(({ source, value, verdict }) => ({
      source: nameOfSource(source),
      value: valueOf(id, value),
      verdict: t(STANDINGS[verdict] ?? verdict),
      good: verdict === 'agrees',
    })),
  };
}
