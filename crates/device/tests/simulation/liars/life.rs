//! What happens in a life of liars: a seed is a life, the same one every time.

use market::source_id::SourceId;

use super::blocks::Flaw;
use crate::workload::Dice;

/// Who hands headers in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prover {
    Peer(u8),
    Node,
    Explorer,
}

/// Which block a prover tells as its newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    Honest,
    /// One that is so many blocks behind.
    Behind(u32),
    /// That of those who work against the honest.
    Rival,
    /// One so many seconds ahead of the clock, on top of the honest ones.
    Ahead(i64),
    Flawed(Flaw),
}

/// What a source says of the height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The honest height, or so much beside it.
    Off(i64),
    /// What it said before, or so much more.
    Again(i64),
}

/// What a source quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoted {
    /// So many thousandths of the honest price.
    Permille(u64),
    /// What it said before, of a trade so many seconds ago.
    Again(i64),
}

/// What happens in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The honest find blocks.
    Mine(u32),
    /// Others go on from so many blocks below the honest ones, with so many of their own.
    Rival(u32, u32),
    /// With all that comes before the block, or with so many headers.
    Prove(Prover, Newest, Option<usize>),
    Claim(SourceId, Said),
    /// The honest price moves, to this in thousandths of what it was.
    Move(u64),
    Quote(SourceId, Quoted),
    Away(SourceId),
    Back(SourceId),
    /// One peer of several leaves.
    Left(u8),
    /// The wall clock is so many seconds beside the time; none where it is not set.
    Clock(Option<i64>),
    PeersMax(u32),
    ProofMode(u32),
    Quorum(u32),
    Witnesses(&'static [&'static str]),
    Screen(u16),
    Wait(u64),
}

/// Sets of venues that are asked.
const WITNESSES: &[&[&str]] = &[
    &["coinbase", "bitstamp"],
    &["coinbase", "bitstamp"],
    &["coinbase", "bitstamp", "bitfinex", "gemini"],
    &["coinbase", "bitstamp", "bitfinex", "gemini"],
    &["gemini"],
    &[],
];

/// Sources of heights and prices.
#[derive(Debug, Clone, Copy)]
pub struct Cast {
    pub claims: SourceId,
    pub primary: SourceId,
    pub has_node: bool,
}

/// A life: a clock that knows the truth, and then so many things that are said to it.
pub fn life(dice: &mut Dice, cast: Cast, count: u64) -> Vec<Step> {
    let mut steps = vec![Step::Mine(12)];
    steps.extend(round(dice, cast));
    for _ in 0..count {
        match dice.below(24) {
            0..=3 => {
                steps.push(Step::Mine(1));
                steps.extend(round(dice, cast));
            }
            4..=6 => steps.extend(quotes(dice, cast)),
            7 => steps.extend(slip(dice, cast)),
            8 if dice.below(2) == 0 => steps.extend(contest(dice, cast)),
            9 if dice.below(5) == 0 => steps.extend(blackout(dice, cast)),
            _ => steps.push(step(dice, cast)),
        }
    }
    steps
}

/// Everybody tells the newest, in any order, some a little later.
fn round(dice: &mut Dice, cast: Cast) -> Vec<Step> {
    let claims = [cast.claims, SourceId::Nostr].map(|source| Step::Claim(source, Said::Off(0)));
    let provers = (0..4)
        .map(Prover::Peer)
        .chain(cast.has_node.then_some(Prover::Node));
    let prove = provers.map(|prover| Step::Prove(prover, Newest::Honest, None));
    let mut left: Vec<Step> = prove.chain(claims).collect();
    let mut steps = Vec::new();
    while !left.is_empty() {
        let next = left.remove(place(dice, left.len()));
        match dice.below(12) {
            // Somebody is not heard, and somebody late.
            0 => {}
            1 => steps.extend([Step::Wait(1 + dice.below(20)), next]),
            _ => steps.push(next),
        }
    }
    steps.push(wait(dice));
    steps
}

/// Everybody quotes about the same.
fn quotes(dice: &mut Dice, cast: Cast) -> Vec<Step> {
    let all = [cast.primary].into_iter().chain(VENUES.iter().copied());
    let mut quote = |source| Step::Quote(source, Quoted::Permille(995 + dice.below(10)));
    let mut steps: Vec<Step> = all.map(&mut quote).collect();
    steps.push(wait(dice));
    steps
}

/// A venue is far off, and comes back step by step.
fn slip(dice: &mut Dice, cast: Cast) -> Vec<Step> {
    let venue = pick(dice, VENUES);
    let wait = Step::Wait(pick(dice, &[0, 1, 20]));
    let far = pick(
        dice,
        &[[1120, 1070, 1040], [1070, 1120, 1060], [880, 940, 970]],
    );
    let steps = far.map(|permille| [Step::Quote(venue, Quoted::Permille(permille)), wait]);
    [quotes(dice, cast), steps.concat()].concat()
}

/// Those who prove are gone for long, and the others go on.
fn blackout(dice: &mut Dice, cast: Cast) -> Vec<Step> {
    let ends = [
        [Step::Away(SourceId::Peers), Step::Back(SourceId::Peers)],
        [Step::PeersMax(0), Step::PeersMax(4)],
    ];
    let [begin, end] = pick(dice, &ends);
    let mut steps = vec![begin];
    steps.extend(cast.has_node.then_some(Step::Away(SourceId::Node)));
    for wait in [600, 5400, 121] {
        steps.push(Step::Mine(pick(dice, &[1, 3])));
        steps.push(Step::Claim(cast.claims, Said::Off(0)));
        steps.push(Step::Wait(wait));
    }
    steps.push(end);
    steps
}

/// Somebody says something else, again and again.
fn contest(dice: &mut Dice, cast: Cast) -> Vec<Step> {
    let more = pick(dice, &[0, 0, 1, 1, 7]);
    let begin = Step::Claim(cast.claims, said(dice));
    let every = pick(dice, &[1, 10, 30, 60]);
    let again = [
        Step::Wait(every),
        Step::Claim(cast.claims, Said::Again(more)),
    ];
    let times = pick(dice, &[2, 5, 20]);
    let end = Step::Claim(cast.claims, Said::Off(0));
    let ends = dice.below(3) > 0;
    [vec![begin], again.repeat(times), vec![end; ends.into()]].concat()
}

const VENUES: &[SourceId] = &[
    SourceId::Coinbase,
    SourceId::Bitstamp,
    SourceId::Bitfinex,
    SourceId::Gemini,
];

fn step(dice: &mut Dice, cast: Cast) -> Step {
    let peer = Prover::Peer(u8::try_from(dice.below(4)).unwrap());
    match dice.below(100) {
        0..=3 => Step::Mine(pick(dice, &[1, 1, 2, 3, 6])),
        4..=8 => {
            let less = u32::try_from(dice.below(7)).unwrap();
            Step::Rival(less, pick(dice, &[1, less, less + 1, less + 2]))
        }
        9..=26 => Step::Prove(peer, newest(dice), None),
        27..=29 => Step::Prove(peer, newest(dice), Some(1 + place(dice, 12))),
        30..=35 => {
            let explorer = Prover::Explorer;
            Step::Prove(explorer, newest(dice), Some(1 + place(dice, 12)))
        }
        36..=38 if cast.has_node => Step::Prove(Prover::Node, newest(dice), None),
        36..=47 => Step::Claim(cast.claims, said(dice)),
        48..=51 => Step::Claim(SourceId::Nostr, said(dice)),
        52..=54 => Step::Move(pick(dice, &[990, 1010, 850, 1200, 500])),
        55..=70 => {
            let source = match dice.below(3) {
                0 => cast.primary,
                _ => pick(dice, VENUES),
            };
            let quoted = match dice.below(5) {
                0 => Quoted::Again(pick(dice, &[0, 5, 200, 400, 4000])),
                _ => Quoted::Permille(pick(
                    dice,
                    &[
                        1000, 1000, 1003, 985, 1030, 940, 1060, 1090, 1120, 890, 10_000, 100,
                    ],
                )),
            };
            Step::Quote(source, quoted)
        }
        71..=75 => Step::Away(source(dice, cast)),
        76..=77 => Step::Back(source(dice, cast)),
        78 => Step::Left(u8::try_from(dice.below(4)).unwrap()),
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

fn said(dice: &mut Dice) -> Said {
    match dice.below(4) {
        0 => Said::Again(pick(dice, &[0, 0, 1])),
        _ => Said::Off(pick(
            dice,
            &[0, 0, 1, 1, 2, 3, -1, -1, -2, 500, -500, 3_000_000_000],
        )),
    }
}

fn source(dice: &mut Dice, cast: Cast) -> SourceId {
    let all = [
        SourceId::Peers,
        SourceId::Peers,
        cast.claims,
        cast.primary,
        SourceId::Coinbase,
        SourceId::Bitstamp,
        SourceId::Nostr,
    ];
    match cast.has_node && dice.below(5) == 0 {
        true => SourceId::Node,
        false => pick(dice, &all),
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
    from[place(dice, from.len())]
}

fn place(dice: &mut Dice, of: usize) -> usize {
    usize::try_from(dice.below(of as u64)).unwrap()
}
