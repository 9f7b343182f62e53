//! The verdict on the fee rate: what each source says, how far they agree, and whose word is shown.
//!
//! Relays, explorers and Electrum servers tell the same: the rate that half of the next block pays. What a node
//! *estimates* is of another kind and differs honestly: it confirms or contradicts within a wider factor, and is shown
//! only where nobody tells the other. What is shown is always somebody's word, never a mean: that of the *leader*, which
//! is the owner's node where it tells what the others do.
//!
//! A rate does not grow old by being said again: it stands still for hours. A *word* counts as long as its source is
//! there, and no longer than a rate may be shown unmarked.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use core::time::Duration;

use super::{
    quotes::{PriceState, Standing},
    since::Since,
    sources::{FeeKind, SourceId},
    truth::{Doubt, Settled},
    until::Until,
    values::{Datum, Market, Seen},
};
use crate::{
    cells::Mark,
    limits::{
        DOUBT_TIME, ESTIMATE_FACTOR, FEE_FACTOR, FEE_MOST_SAT_VB, FEE_QUORUM, FEE_SMALL_SAT_VB,
        STALE_FEE,
    },
    units::{FeeRate, MICRO},
};

/// How many decimals a source tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// None.
    Whole,
    /// All that it has.
    Precise,
}

/// A rate as it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// The rate.
    pub rate: FeeRate,
    /// How many decimals it has.
    pub form: Form,
    /// When it was true.
    pub seen: Seen,
}

impl Told {
    /// Tells whether there can be such a rate: half of a block has never paid so much, and nothing gets in for nothing,
    /// but less than half a satoshi is nought in whole ones.
    pub fn is_possible(self) -> bool {
        let is_least = match self.form {
            Form::Whole => true,
            Form::Precise => self.rate.micros > 0,
        };
        is_least && self.rate.micros <= FEE_MOST_SAT_VB * MICRO
    }
}

/// What a source says of the fee rate, first or second hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeSaying {
    /// Who says so here.
    pub teller: SourceId,
    /// Who has said so first: the teller itself, unless it repeats what another clock was told.
    pub origin: SourceId,
    /// What kind of rate it is.
    pub kind: FeeKind,
    /// The rate.
    pub told: Told,
}

/// A rate as the status tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeVoice {
    /// Who says so here.
    pub source: SourceId,
    /// Whose word it is.
    pub origin: SourceId,
    /// What kind of rate it is.
    pub kind: FeeKind,
    /// The rate.
    pub rate: FeeRate,
    /// When it was true.
    pub seen: Seen,
    /// What became of it.
    pub standing: Standing,
}

/// What is known of how true the fee rate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeTruth {
    /// How good it is, in the words for prices.
    pub state: PriceState,
    /// All rates, refused ones included.
    pub voices: Vec<FeeVoice>,
}

impl Default for FeeTruth {
    fn default() -> FeeTruth {
        FeeTruth {
            state: PriceState::Stale,
            voices: Vec::new(),
        }
    }
}

/// What the owner asks of the fee rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeRules {
    /// More than one source is asked for it.
    pub witnessed: bool,
}

/// What a source says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    kind: FeeKind,
    origin: SourceId,
    said: Told,
    /// The newest of the other form.
    other: Option<Told>,
    /// Its source is away.
    is_silent: bool,
}

impl Word {
    /// The newest; that with the decimals of two that are equally new.
    fn newest(&self) -> Told {
        let other = self.other.filter(|other| match other.form {
            Form::Whole => other.seen.is_after(self.said.seen),
            Form::Precise => !self.said.seen.is_after(other.seen),
        });
        other.unwrap_or(self.said)
    }

    fn of(&self, form: Form) -> Option<Told> {
        let mut told = [Some(self.said), self.other].into_iter().flatten();
        told.find(|told| told.form == form)
    }

    fn is_second_hand(&self, source: SourceId) -> bool {
        self.origin != source
    }
}

/// The rates that are shown; screens choose among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Shown {
    whole: Option<Datum<FeeRate>>,
    precise: Option<Datum<FeeRate>>,
}

impl Shown {
    fn of(market: &Market) -> Shown {
        Shown {
            whole: market.fee.clone(),
            precise: market.precise_fee.clone(),
        }
    }

    fn by(source: SourceId, word: &Word) -> Shown {
        let datum = |told: Told| Datum {
            value: told.rate,
            source,
            seen: told.seen,
        };
        Shown {
            whole: word.of(Form::Whole).map(datum),
            precise: word.of(Form::Precise).map(datum),
        }
    }

    fn newest(&self) -> Option<&Datum<FeeRate>> {
        match (&self.whole, &self.precise) {
            (Some(whole), Some(precise)) if whole.seen.is_after(precise.seen) => Some(whole),
            (whole, precise) => precise.as_ref().or(whole.as_ref()),
        }
    }

    /// Uptime up to which it may be shown unmarked; none for what is of an earlier run, and for nothing.
    fn lasts(&self) -> Option<Duration> {
        self.newest()?.seen.lasts_until(STALE_FEE)
    }

    fn values(&self) -> [Option<FeeRate>; 2] {
        let value = |datum: &Datum<FeeRate>| datum.value;
        [self.whole.as_ref(), self.precise.as_ref()].map(|datum| datum.map(value))
    }
}

/// What the sources say of the fee rate, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fees {
    words: BTreeMap<SourceId, Word>,
    truth: Arc<FeeTruth>,
    /// The moment of the newest judgement, and what was shown before it.
    judged: Option<(Duration, Shown)>,
    /// What was shown as sources began to contradict each other; none if that was nothing good.
    kept: Option<Shown>,
    weak: Since,
    disputed: Since,
    /// Uptime at which the verdict is another one.
    until: Option<Duration>,
}

/// The words that count, and how they stand to each other.
struct Votes {
    /// Those that are fresh and first hand.
    fresh: Vec<SourceId>,
    /// Those of them whose rate can be.
    counted: Vec<SourceId>,
    /// Those of them that answer the question best, and so may be shown.
    alike: Vec<SourceId>,
    /// Those that are counted and agree with the middle of those.
    agreeing: Vec<SourceId>,
}

impl Fees {
    /// How good the rate is.
    pub fn truth(&self) -> &Arc<FeeTruth> {
        &self.truth
    }

    /// Uptime at which the verdict is another one by itself.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.until
    }

    /// A source tells a rate; one that is older than what it has told changes nothing.
    pub fn say(&mut self, saying: FeeSaying) {
        let FeeSaying {
            teller,
            origin,
            kind,
            told,
        } = saying;
        let word = Word {
            kind,
            origin,
            said: told,
            other: None,
            is_silent: false,
        };
        let known = self.words.get(&teller).copied();
        // Where several share, what one was told a while ago does not take the place of what another was told since.
        let other = known.filter(|known| known.origin != origin && !known.is_silent);
        if other.is_some_and(|other| other.newest().seen.is_after(told.seen)) {
            return;
        }
        // Another voice has said nothing before.
        let known = known.filter(|known| known.origin == origin);
        let word = match known {
            None => word,
            Some(known) if known.said.form != told.form => Word {
                other: Some(known.said),
                ..word
            },
            Some(known) => Word {
                other: known.other,
                ..word
            },
        };
        let before = known
            .filter(|known| !known.is_silent)
            .and_then(|known| known.of(told.form));
        if before.is_some_and(|before| before.seen.is_after(told.seen)) {
            return;
        }
        self.words.insert(teller, word);
    }

    /// Counts what a source has told no more until it says something again.
    pub fn silence(&mut self, source: SourceId) {
        if let Some(word) = self.words.get_mut(&source) {
            word.is_silent = true;
        }
    }

    /// Nobody asks a source any more.
    pub fn forget(&mut self, source: SourceId) {
        self.words.remove(&source);
    }

    /// Shows what the words come to.
    pub fn settle(&mut self, market: &mut Arc<Market>, rules: FeeRules, now: Duration) -> Settled {
        let mut until = Until::after(now);
        let before = self.shown_before(market, now);
        let votes = self.vote(&mut until);
        let mut state = votes.state();
        if votes.counted.is_empty() {
            let lasts = self.last_word(&before).lasts();
            if lasts.is_none_or(|end| until.is_over(end)) {
                state = PriceState::Stale;
            }
        }
        self.follow(state, now);
        let kept = self.kept(&votes, &before, &mut until);
        let doubts = self.doubts(rules, kept.as_ref().map(|(_, end)| *end));
        let shown = match kept {
            Some((kept, _)) => kept,
            None => self.shown(&votes, state, &before),
        };
        let truth = FeeTruth {
            state,
            voices: self.voices(&votes),
        };
        if *self.truth != truth {
            self.truth = Arc::new(truth);
        }
        self.until = until.first();
        let known = Shown::of(market);
        if shown != known {
            let market = Arc::make_mut(market);
            (market.fee, market.precise_fee) = (shown.whole.clone(), shown.precise.clone());
        }
        Settled {
            differs: shown.values() != known.values(),
            doubts,
        }
    }

    /// What was shown before this moment, so that nothing depends on who of it speaks first.
    fn shown_before(&mut self, market: &Market, now: Duration) -> Shown {
        match &self.judged {
            Some((at, before)) if *at == now => before.clone(),
            Some(_) | None => {
                let before = Shown::of(market);
                self.judged = Some((now, before.clone()));
                before
            }
        }
    }

    fn vote(&self, until: &mut Until) -> Votes {
        let mut is_fresh = |word: &Word| {
            let end = word.newest().seen.lasts_until(STALE_FEE);
            !word.is_silent && end.is_some_and(|end| !until.is_over(end))
        };
        let words = self.words.iter();
        let fresh = words.filter(|(_, word)| is_fresh(word));
        let all: Vec<SourceId> = fresh.map(|(source, _)| *source).collect();
        // Who speaks here itself is not heard second hand beside it, for it is one witness.
        let is_one = |source: &&SourceId| {
            let word = &self.words[*source];
            !word.is_second_hand(**source) || !all.contains(&word.origin)
        };
        let fresh: Vec<SourceId> = all.iter().filter(is_one).copied().collect();
        let counted = self.among(&fresh, |word| word.newest().is_possible());
        let kinds = counted.iter().map(|source| self.words[source].kind);
        let best = kinds.min().unwrap_or(FeeKind::Estimate);
        let alike = self.among(&counted, |word| word.kind == best);
        let middle = self.middle(&alike);
        let agrees = |word: &Word| middle.is_some_and(|middle| is_near(word, middle));
        let agreeing = self.among(&counted, agrees);
        Votes {
            fresh,
            counted,
            alike,
            agreeing,
        }
    }

    fn among(&self, sources: &[SourceId], is_meant: impl Fn(&Word) -> bool) -> Vec<SourceId> {
        let sources = sources.iter().copied();
        sources
            .filter(|source| is_meant(&self.words[source]))
            .collect()
    }

    /// The rate in the middle; the lower one of two.
    fn middle(&self, among: &[SourceId]) -> Option<FeeRate> {
        let rates = among.iter().map(|source| self.words[source].newest().rate);
        let mut rates: Vec<FeeRate> = rates.collect();
        rates.sort_unstable();
        let middle = rates.len().checked_sub(1)? / 2;
        rates.get(middle).copied()
    }

    /// Takes note of how the rate is now: since when has it been less than good?
    fn follow(&mut self, state: PriceState, now: Duration) {
        match state {
            PriceState::Agreed | PriceState::Stale => {
                self.weak.end(now);
                self.disputed.end(now);
            }
            PriceState::Single => {
                self.weak.go_on(now);
                self.disputed.end(now);
            }
            PriceState::Disputed => {
                self.weak.go_on(now);
                self.disputed.go_on(now);
            }
        }
    }

    /// What was good before sources contradicted each other, and until when it is shown: for a while, as long as one of
    /// those that count still says about that.
    fn kept(
        &mut self,
        votes: &Votes,
        before: &Shown,
        until: &mut Until,
    ) -> Option<(Shown, Duration)> {
        let since = self.disputed.since()?;
        if since == until.now() {
            let is_good = before.lasts().is_some_and(|end| until.now() < end);
            self.kept = is_good.then(|| before.clone());
        }
        let kept = self.kept.as_ref()?;
        let rate = kept.newest()?.value;
        let mut counted = votes.counted.iter().map(|source| &self.words[source]);
        let is_said = votes.counted.is_empty() || counted.any(|word| is_near(word, rate));
        let end = since + DOUBT_TIME;
        (is_said && !until.is_over(end)).then(|| (kept.clone(), end))
    }

    /// What is shown where nothing is kept: the word of the leader, of those that agree where most do.
    fn shown(&self, votes: &Votes, state: PriceState, before: &Shown) -> Shown {
        let agrees = |source: &&SourceId| votes.agreeing.contains(source);
        let among: Vec<SourceId> = match state {
            PriceState::Agreed => votes.alike.iter().filter(agrees).copied().collect(),
            PriceState::Single | PriceState::Disputed | PriceState::Stale => votes.alike.clone(),
        };
        let rank = |source: &SourceId| {
            let word = &self.words[source];
            (
                // In whole satoshis nought is less than half of one: whoever tells more tells how much.
                word.newest().rate.micros == 0,
                *source != SourceId::Node,
                word.is_second_hand(*source),
                *source,
            )
        };
        let leader = among.into_iter().min_by_key(rank);
        match leader.map(|leader| (leader, &self.words[&leader])) {
            Some((leader, word)) if !is_step_back(leader, word, before) => Shown::by(leader, word),
            Some(_) => before.clone(),
            None => self.last_word(before),
        }
    }

    /// What is shown where no word counts: the newest, or what was shown before it.
    fn last_word(&self, before: &Shown) -> Shown {
        let words = self.words.iter();
        let possible = words.filter(|(_, word)| word.newest().is_possible());
        let newest = possible.reduce(|best, next| {
            match next.1.newest().seen.is_after(best.1.newest().seen) {
                true => next,
                false => best,
            }
        });
        let shown = before.newest().map(|shown| shown.seen);
        let is_older = |word: &Word| shown.is_some_and(|shown| shown.is_after(word.newest().seen));
        match newest.filter(|(_, word)| !is_older(word)) {
            Some((source, word)) => Shown::by(*source, word),
            None => before.clone(),
        }
    }

    fn doubts(&self, rules: FeeRules, kept_until: Option<Duration>) -> Vec<Doubt> {
        let disputed = self.disputed.since().map(|since| Doubt {
            mark: Mark::Disputed,
            // While what was good before is shown, it is not what they disagree about.
            from: kept_until.unwrap_or(since),
        });
        // A ring that is due stays until the graver sign comes.
        let is_alone = |weak: &Duration| self.disputed.since().is_none_or(|since| *weak < since);
        let weak = self.weak.since().filter(|_| rules.witnessed);
        let alone = weak.filter(is_alone).map(|since| Doubt {
            mark: Mark::Alone,
            from: since + DOUBT_TIME,
        });
        disputed.into_iter().chain(alone).collect()
    }

    fn voices(&self, votes: &Votes) -> Vec<FeeVoice> {
        let heard = self.words.iter().filter(|(_, word)| !word.is_silent);
        let voice = |(source, word): (&SourceId, &Word)| FeeVoice {
            source: *source,
            origin: word.origin,
            kind: word.kind,
            rate: word.newest().rate,
            seen: word.newest().seen,
            standing: votes.standing(*source),
        };
        heard.map(voice).collect()
    }
}

impl Votes {
    fn state(&self) -> PriceState {
        let agreeing = self.agreeing.len();
        if agreeing >= FEE_QUORUM && agreeing * 2 > self.fresh.len() {
            PriceState::Agreed
        } else if agreeing == self.fresh.len() {
            PriceState::Single
        } else {
            PriceState::Disputed
        }
    }

    fn standing(&self, source: SourceId) -> Standing {
        if !self.fresh.contains(&source) {
            Standing::Old
        } else if !self.counted.contains(&source) {
            Standing::Out
        } else if self.agreeing.contains(&source) {
            Standing::Agrees
        } else {
            Standing::Apart
        }
    }
}

/// Tells whether a word is about a rate, as far as its kind can be.
fn is_near(word: &Word, rate: FeeRate) -> bool {
    let factor = match word.kind {
        FeeKind::Median => FEE_FACTOR,
        FeeKind::Estimate => ESTIMATE_FACTOR,
    };
    let (one, two) = (word.newest().rate.micros, rate.micros);
    let (low, high) = (one.min(two), one.max(two));
    high - low <= FEE_SMALL_SAT_VB * MICRO || high <= low.saturating_mul(factor)
}

/// Tells whether a word is somebody else's, and older than what is shown.
fn is_step_back(source: SourceId, word: &Word, shown: &Shown) -> bool {
    let shown = shown.newest().map(|shown| shown.seen);
    let is_older = shown.is_some_and(|shown| shown.is_after(word.newest().seen));
    word.is_second_hand(source) && is_older
}
