//! Random lives with voices that lie: no height above the proven one is ever called proven, and the order in which
//! voices of one moment are heard changes nothing.

use market::{HeightState, Observation, source_id::SourceId};
use proptest::prelude::*;

use crate::{
    EXPLORER, OTHER, RELAY, World,
    miner::{Miner, START},
    reference::{self, Past},
};

/// Height at which lives begin.
const FIRST: u32 = 900_000;

/// What happens in a second.
#[derive(Debug, Clone)]
enum Step {
    Mine,
    /// The prover tells all that it has not told.
    Prove,
    /// The relay is off the truth by so much.
    Claim(i32),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Mine),
        3 => Just(Step::Prove),
        3 => prop_oneof![Just(0), -3..4, Just(500), Just(-500)].prop_map(Step::Claim),
        4 => prop_oneof![1..30_u64, 60..200_u64].prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_above_the_proof_is_called_proven(steps in prop::collection::vec(step(), 1..60)) {
        let (mut world, mut miner) = (World::new(), Miner::new());
        miner.mine(8);
        world.prove(EXPLORER, FIRST, &miner.newest(8));
        let (mut truth, mut told, mut claimed) = (FIRST, FIRST, None);
        // When the newest block was made, and the newest that is proven.
        let (mut made, mut proven) = (-3520, -3520);
        let mut past = Past::default();
        for step in steps {
            let mut seconds = 1;
            match step {
                Step::Mine => {
                    made = world.secs() as i64;
                    miner.mine_at(START + world.secs() as u32);
                    truth += 1;
                }
                Step::Prove => {
                    let new = (truth - told) as usize;
                    world.prove(EXPLORER, truth, &miner.newest(new.max(1)));
                    (told, proven) = (truth, made);
                }
                Step::Claim(off) => {
                    let height = truth.saturating_add_signed(off);
                    world.claim(RELAY, height);
                    claimed = Some(height);
                }
                Step::Wait(secs) => seconds = secs,
            }
            // Everything that is said in a second is said at its beginning.
            for _ in 0..seconds {
                past.claims.entry("relay").or_default().push(claimed);
                past.proofs.entry("explorer").or_default().push(Some(told));
            }
            let (shown, state) = world.verdict();
            let shown = shown.unwrap();
            prop_assert!(shown >= told && shown <= told + 2, "{shown} where {told} is proven");
            let is_good = matches!(state, HeightState::Proven | HeightState::Alone);
            prop_assert!(!is_good || shown == told, "{shown} is {state:?}");
            world.wait(seconds);
            let (shown, state) = world.verdict();
            prop_assert_eq!(state, reference::state(&past, shown.unwrap(), world.secs() as i64 - proven));
        }
    }

    #[test]
    fn the_order_of_voices_changes_nothing(
        rounds in prop::collection::vec((0..3_u32, -2..4_i32, -2..4_i32, prop_oneof![Just(1_u64), Just(30), Just(130)]), 1..12),
        turns in prop::collection::vec(0..6_usize, 12),
    ) {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let live = |turns: &[usize]| {
            let (mut world, mut miner) = (World::new(), Miner::new());
            miner.mine(8);
            world.prove(EXPLORER, FIRST, &miner.newest(8));
            let mut truth = FIRST;
            let mut told = Vec::new();
            for (at, (blocks, one, two, wait)) in rounds.iter().enumerate() {
                world.wait(*wait);
                miner.mine(*blocks);
                truth += blocks;
                let headers = miner.newest((*blocks).max(1) as usize);
                let voices: [(SourceId, Observation); 3] = [
                    (EXPLORER, Observation::Headers { height: truth, headers }),
                    (RELAY, Observation::Block(truth.saturating_add_signed(*one))),
                    (OTHER, Observation::Block(truth.saturating_add_signed(*two))),
                ];
                for place in ORDERS[turns[at]] {
                    let (source, said) = voices[place].clone();
                    world.hear(source, said);
                }
                told.push(world.verdict());
            }
            told
        };
        prop_assert_eq!(live(&[0; 12]), live(&turns));
    }

    #[test]
    fn the_order_of_claims_changes_nothing(
        heights in prop::collection::vec(prop_oneof![899_990..900_210_u32, 900_900..901_300_u32], 3),
        order in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        let sources = [RELAY, EXPLORER, OTHER];
        let live = |order: [usize; 3]| {
            let mut world = World::new();
            world.claim(RELAY, FIRST);
            world.wait(1);
            for at in order {
                world.claim(sources[at], heights[at]);
            }
            world.verdict().0
        };
        prop_assert_eq!(live([0, 1, 2]), live(order));
    }
}
