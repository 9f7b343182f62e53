//! Random steps of a simulation, reproducible from a seed.

use market::source_id::SourceId;

use super::blocks::Flaw;
use crate::workload::Dice;

/// A source of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prover {
    Peer(u8),
    Node,
    Explorer,
}

/// The block that a prover sends as its newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    Honest,
    /// This many blocks behind the honest tip.
    Behind(u32),
    /// The tip of the rival branch.
    Rival,
    /// A block on the honest tip. Its time is this many seconds ahead of the wall clock.
    Ahead(i64),
    Flawed(Flaw),
}

/// The height of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    /// The honest height plus an offset.
    Offset(i64),
    /// The previous claim of the source plus an increment.
    Repeated(i64),
}

/// The price of a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteKind {
    /// The honest price times this, per mille.
    Permille(u64),
    /// The previous quote of the source, with a trade this many seconds ago.
    Repeated(i64),
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Mines honest blocks.
    Mine(u32),
    /// Makes a rival branch: blocks below the honest tip, and blocks of its own.
    Rival(u32, u32),
    /// Sends a block with all its ancestors, or with this many headers.
    Prove(Prover, Newest, Option<usize>),
    Claim(SourceId, ClaimKind),
    /// Multiplies the honest price, per mille.
    Move(u64),
    Quote(SourceId, QuoteKind),
    Disconnect(SourceId),
    Reconnect(SourceId),
    /// One peer disconnects.
    PeerDisconnect(u8),
    /// Sets the error of the wall clock, s. `None` if it is not set.
    Clock(Option<i64>),
    PeersMax(u32),
    ProofMode(u32),
    Quorum(u32),
    Witnesses(&'static [&'static str]),
    Screen(u16),
    Wait(u64),
}

/// Sets of enabled venues.
const WITNESSES: &[&[&str]] = &[
    &["coinbase", "bitstamp"],
    &["coinbase", "bitstamp"],
    &["coinbase", "bitstamp", "bitfinex", "gemini"],
    &["coinbase", "bitstamp", "bitfinex", "gemini"],
    &["gemini"],
    &[],
];

/// The sources of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct SourceSet {
    pub claims: SourceId,
    pub primary: SourceId,
    pub has_node: bool,
}

/// The steps of a simulation: first honest data, then random steps.
pub fn random_steps(dice: &mut Dice, sources: SourceSet, count: u64) -> Vec<Step> {
    let mut steps = vec![Step::Mine(12)];
    steps.extend(round(dice, sources));
    for _ in 0..count {
        match dice.below(24) {
            0..=3 => {
                steps.push(Step::Mine(1));
                steps.extend(round(dice, sources));
            }
            4..=6 => steps.extend(quotes(dice, sources)),
            7 => steps.extend(outlier(dice, sources)),
            8 if dice.below(2) == 0 => steps.extend(contradiction(dice, sources)),
            9 if dice.below(5) == 0 => steps.extend(blackout(dice, sources)),
            _ => steps.push(step(dice, sources)),
        }
    }
    steps
}

/// All sources send the newest block, in random order, some a little later.
fn round(dice: &mut Dice, sources: SourceSet) -> Vec<Step> {
    let claims =
        [sources.claims, SourceId::Nostr].map(|source| Step::Claim(source, ClaimKind::Offset(0)));
    let provers = (0..4)
        .map(Prover::Peer)
        .chain(sources.has_node.then_some(Prover::Node));
    let prove = provers.map(|prover| Step::Prove(prover, Newest::Honest, None));
    let mut remaining: Vec<Step> = prove.chain(claims).collect();
    let mut steps = Vec::new();
    while !remaining.is_empty() {
        let next = remaining.remove(index(dice, remaining.len()));
        match dice.below(12) {
            // A source may send nothing, or send late.
            0 => {}
            1 => steps.extend([Step::Wait(1 + dice.below(20)), next]),
            _ => steps.push(next),
        }
    }
    steps.push(wait(dice));
    steps
}

/// All sources quote about the same price.
fn quotes(dice: &mut Dice, sources: SourceSet) -> Vec<Step> {
    let all = [sources.primary].into_iter().chain(VENUES.iter().copied());
    let mut quote = |source| Step::Quote(source, QuoteKind::Permille(995 + dice.below(10)));
    let mut steps: Vec<Step> = all.map(&mut quote).collect();
    steps.push(wait(dice));
    steps
}

/// A venue is an outlier, and returns step by step.
fn outlier(dice: &mut Dice, sources: SourceSet) -> Vec<Step> {
    let venue = pick(dice, VENUES);
    let wait = Step::Wait(pick(dice, &[0, 1, 20]));
    let far = pick(
        dice,
        &[[1120, 1070, 1040], [1070, 1120, 1060], [880, 940, 970]],
    );
    let steps = far.map(|permille| [Step::Quote(venue, QuoteKind::Permille(permille)), wait]);
    [quotes(dice, sources), steps.concat()].concat()
}

/// All sources of headers are disconnected for a long time; the other sources continue.
fn blackout(dice: &mut Dice, sources: SourceSet) -> Vec<Step> {
    let ends = [
        [
            Step::Disconnect(SourceId::Peers),
            Step::Reconnect(SourceId::Peers),
        ],
        [Step::PeersMax(0), Step::PeersMax(4)],
    ];
    let [begin, end] = pick(dice, &ends);
    let mut steps = vec![begin];
    steps.extend(sources.has_node.then_some(Step::Disconnect(SourceId::Node)));
    for wait in [600, 5400, 121] {
        steps.push(Step::Mine(pick(dice, &[1, 3])));
        steps.push(Step::Claim(sources.claims, ClaimKind::Offset(0)));
        steps.push(Step::Wait(wait));
    }
    steps.push(end);
    steps
}

/// A source repeats a different claim.
fn contradiction(dice: &mut Dice, sources: SourceSet) -> Vec<Step> {
    let more = pick(dice, &[0, 0, 1, 1, 7]);
    let begin = Step::Claim(sources.claims, claim_kind(dice));
    let every = pick(dice, &[1, 10, 30, 60]);
    let again = [
        Step::Wait(every),
        Step::Claim(sources.claims, ClaimKind::Repeated(more)),
    ];
    let times = pick(dice, &[2, 5, 20]);
    let end = Step::Claim(sources.claims, ClaimKind::Offset(0));
    let ends = dice.below(3) > 0;
    [vec![begin], again.repeat(times), vec![end; ends.into()]].concat()
}

const VENUES: &[SourceId] = &[
    SourceId::Coinbase,
    SourceId::Bitstamp,
    SourceId::Bitfinex,
    SourceId::Gemini,
];

fn step(dice: &mut Dice, sources: SourceSet) -> Step {
    let peer = Prover::Peer(u8::try_from(dice.below(4)).unwrap());
    match dice.below(100) {
        0..=3 => Step::Mine(pick(dice, &[1, 1, 2, 3, 6])),
        4..=8 => {
            let less = u32::try_from(dice.below(7)).unwrap();
            Step::Rival(less, pick(dice, &[1, less, less + 1, less + 2]))
        }
        9..=26 => Step::Prove(peer, newest(dice), None),
        27..=29 => Step::Prove(peer, newest(dice), Some(1 + index(dice, 12))),
        30..=35 => {
            let explorer = Prover::Explorer;
            Step::Prove(explorer, newest(dice), Some(1 + index(dice, 12)))
        }
        36..=38 if sources.has_node => Step::Prove(Prover::Node, newest(dice), None),
        36..=47 => Step::Claim(sources.claims, claim_kind(dice)),
        48..=51 => Step::Claim(SourceId::Nostr, claim_kind(dice)),
        52..=54 => Step::Move(pick(dice, &[990, 1010, 850, 1200, 500])),
        55..=70 => {
            let source = match dice.below(3) {
                0 => sources.primary,
                _ => pick(dice, VENUES),
            };
            let kind = match dice.below(5) {
                0 => QuoteKind::Repeated(pick(dice, &[0, 5, 200, 400, 4000])),
                _ => QuoteKind::Permille(pick(
                    dice,
                    &[
                        1000, 1000, 1003, 985, 1030, 940, 1060, 1090, 1120, 890, 10_000, 100,
                    ],
                )),
            };
            Step::Quote(source, kind)
        }
        71..=75 => Step::Disconnect(source(dice, sources)),
        76..=77 => Step::Reconnect(source(dice, sources)),
        78 => Step::PeerDisconnect(u8::try_from(dice.below(4)).unwrap()),
        79..=81 => {
            let steps = [0, 0, 0, 40, -40, 5000, -5000, 5400, -20_000, 90_000];
            Step::Clock((dice.below(8) > 0).then(|| pick(dice, &steps)))
        }
        82..=83 => Step::PeersMax(pick(dice, &[0, 4, 4])),
        84..=85 => Step::ProofMode(pick(dice, &[0, 1, 1, 1, 2])),
        86 => Step::Quorum(pick(dice, &[1, 2, 2, 3])),
        87..=88 => Step::Witnesses(pick(dice, WITNESSES)),
        89..=91 => Step::Screen(pick(dice, &[0, 0, 20])),
        _ => wait(dice),
    }
}

fn newest(dice: &mut Dice) -> Newest {
    match dice.below(20) {
        0..=8 => Newest::Honest,
        9..=11 => Newest::Behind(1 + u32::try_from(dice.below(4)).unwrap()),
        12..=15 => Newest::Rival,
        16..=17 => Newest::Ahead(pick(dice, &[7199, 7200, 7201, 7260, 20_000])),
        _ => Newest::Flawed(pick(
            dice,
            &[
                Flaw::NoWork,
                Flaw::WrongBits,
                Flaw::TooOld,
                Flaw::OldVersion,
            ],
        )),
    }
}

fn claim_kind(dice: &mut Dice) -> ClaimKind {
    match dice.below(4) {
        0 => ClaimKind::Repeated(pick(dice, &[0, 0, 1])),
        _ => ClaimKind::Offset(pick(
            dice,
            &[0, 0, 1, 1, 2, 3, -1, -1, -2, 500, -500, 3_000_000_000],
        )),
    }
}

fn source(dice: &mut Dice, sources: SourceSet) -> SourceId {
    let all = [
        SourceId::Peers,
        SourceId::Peers,
        sources.claims,
        sources.primary,
        SourceId::Coinbase,
        SourceId::Bitstamp,
        SourceId::Nostr,
    ];
    if sources.has_node && dice.below(5) == 0 {
        SourceId::Node
    } else {
        pick(dice, &all)
    }
}

fn wait(dice: &mut Dice) -> Step {
    let short = [1, 1, 2, 5, 10, 10, 30, 30, 59, 60, 61];
    Step::Wait(match dice.below(80) {
        0 => 5400,
        1..=2 => 901,
        3..=10 => pick(dice, &[299, 300, 301, 600]),
        11..=30 => pick(dice, &[119, 120, 121]),
        _ => pick(dice, &short),
    })
}

fn pick<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    from[index(dice, from.len())]
}

fn index(dice: &mut Dice, of: usize) -> usize {
    usize::try_from(dice.below(of as u64)).unwrap()
}
