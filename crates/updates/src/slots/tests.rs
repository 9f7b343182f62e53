#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn installed(version: &str, trial_state: TrialState) -> Installed {
    Installed {
        version: version.parse().unwrap(),
        bytes: 7,
        digest: [0xA7; 32],
        factory_build: "old".to_string(),
        trial_state,
        executions: 0,
    }
}

fn factory(version: &str) -> Factory {
    Factory {
        version: version.parse().unwrap(),
        build: "new".to_string(),
    }
}

fn programs(a: Option<Installed>, b: Option<Installed>) -> BTreeMap<ImageSlot, Installed> {
    let slots = ImageSlot::ALL.into_iter().zip([a, b]);
    slots
        .filter_map(|(slot, installed)| Some((slot, installed?)))
        .collect()
}

const NEW: TrialState = TrialState::Trial { starts: 0 };
const A: Program = Program::Slot(ImageSlot::A);
const B: Program = Program::Slot(ImageSlot::B);
const F: Program = Program::Factory;

#[test]
fn programs_are_tried_from_the_active_slot_to_the_installed_program() {
    use TrialState::{Failed, Proven};
    let exhausted = TrialState::Trial {
        starts: TRIAL_STARTS_MAX,
    };
    let last = TrialState::Trial {
        starts: TRIAL_STARTS_MAX - 1,
    };
    let (a, b) = (Some(ImageSlot::A), Some(ImageSlot::B));
    #[rustfmt::skip]
    let rows = [
        (None, None, None, &[F][..]),
        (a, None, None, &[F]),
        (a, Some(("4.1.0", NEW)), None, &[A, F]),
        (a, Some(("4.1.0", last)), None, &[A, F]),
        (a, Some(("4.1.0", exhausted)), None, &[F]),
        (a, Some(("4.1.0", Failed)), None, &[F]),
        (b, Some(("4.1.0", Proven)), Some(("4.2.0", NEW)), &[B, A, F]),
        (b, Some(("4.1.0", Proven)), Some(("4.2.0", Failed)), &[A, F]),
        (b, Some(("4.1.0", NEW)), Some(("4.2.0", Failed)), &[F]),
        (a, Some(("4.2.0", Proven)), Some(("4.1.0", Proven)), &[A, B, F]),
        (a, Some(("4.2.0", Proven)), Some(("4.1.0", Failed)), &[A, F]),
        (None, Some(("4.2.0", Proven)), Some(("4.1.0", Proven)), &[F]),
        // The installed program is 4.0.0.
        (a, Some(("4.0.0", Proven)), Some(("3.9.0", Proven)), &[F]),
        (a, Some(("4.0.0-rc.1", Proven)), Some(("4.0.1", Proven)), &[B, F]),
    ];
    for (active, in_a, in_b, expected) in rows {
        let slot = |entry: Option<(&str, TrialState)>| {
            entry.map(|(version, trial_state)| installed(version, trial_state))
        };
        let slots = Slots {
            active,
            programs: programs(slot(in_a), slot(in_b)),
            ..Slots::default()
        };
        assert_eq!(slots.boot_order(&factory("4.0.0")), expected, "{slots:?}");
    }
}

#[test]
fn an_upgraded_package_takes_precedence_over_an_older_slot() {
    let mut slots = Slots::default();
    let older = Installed {
        factory_build: "new".to_string(),
        ..installed("3.9.0", TrialState::Proven)
    };
    slots.activate(ImageSlot::A, older);
    let here = factory("4.0.0");
    assert_eq!(
        slots.boot_order(&here),
        [A, F],
        "installed beside this package"
    );
    let upgraded = Factory {
        build: "newer".to_string(),
        ..factory("4.0.1")
    };
    assert_eq!(slots.boot_order(&upgraded), [F]);
    slots.activate(ImageSlot::A, installed("4.1.0", TrialState::Proven));
    assert_eq!(slots.boot_order(&upgraded), [A, F]);
    assert_eq!(
        slots.boot_order(&factory("4.1.0")),
        [F],
        "as new as the slot"
    );
}

#[test]
fn a_failed_update_falls_back_to_the_previous_program() {
    let factory = factory("4.0.0");
    let mut slots = Slots::default();
    slots.activate(ImageSlot::A, installed("4.1.0", NEW));
    assert!(slots.is_trial(A));
    slots.mark_proven(ImageSlot::A);
    assert!(!slots.is_trial(A) && !slots.is_trial(F));
    slots.activate(ImageSlot::B, installed("4.2.0", NEW));
    slots.count_start(ImageSlot::B);
    assert_eq!(slots.boot_order(&factory), [B, A, F]);
    slots.mark_failed(ImageSlot::B, "it painted nothing");
    assert_eq!(slots.boot_order(&factory), [A, F]);
    assert_eq!(
        slots.last_failure.as_deref(),
        Some("version 4.2.0 failed: it painted nothing")
    );
    assert_eq!(slots.free_slot(A, &factory), ImageSlot::B);
    slots.clear(ImageSlot::B);
    assert_eq!(slots.boot_order(&factory), [A, F], "until the activation");
    slots.activate(ImageSlot::B, installed("4.2.1", NEW));
    slots.mark_proven(ImageSlot::B);
    assert_eq!(slots.last_failure, None);
    slots.mark_failed(ImageSlot::A, &"ü".repeat(500));
    assert!(slots.last_failure.unwrap().len() <= REASON_MAX);
}

#[test]
fn the_free_slot_has_no_program_that_is_needed() {
    let factory = factory("4.0.0");
    let mut slots = Slots::default();
    assert_eq!(slots.free_slot(F, &factory), ImageSlot::A);
    slots.activate(ImageSlot::A, installed("4.1.0", TrialState::Proven));
    assert_eq!(slots.free_slot(A, &factory), ImageSlot::B);
    assert_eq!(
        slots.free_slot(F, &factory),
        ImageSlot::B,
        "the installed program runs as a fallback"
    );
    slots.mark_failed(ImageSlot::A, "");
    assert_eq!(
        slots.free_slot(F, &factory),
        ImageSlot::A,
        "the failed program is not needed"
    );
    slots.activate(ImageSlot::B, installed("4.1.0", NEW));
    assert_eq!(slots.free_slot(B, &factory), ImageSlot::A);
}

#[test]
fn skipped_versions_do_not_depend_on_the_slots() {
    let mut slots = Slots::default();
    let skipped = |slots: &Slots| -> Vec<String> {
        let text = |skipped: &SkippedVersion| format!("{} {:?}", skipped.version, skipped.why);
        slots.skipped.iter().map(text).collect()
    };
    slots.activate(ImageSlot::A, installed("4.3.0", NEW));
    slots.mark_failed(ImageSlot::A, "");
    slots.activate(ImageSlot::A, installed("4.2.1", NEW));
    assert_eq!(skipped(&slots), ["4.3.0 Failed"]);
    slots.skip_version(&Version::new(4, 4, 0), SkipReason::Left);
    slots.skip_version(&"4.3.0+other".parse().unwrap(), SkipReason::Left);
    assert_eq!(skipped(&slots), ["4.4.0 Left", "4.3.0+other Left"]);
    // An installation by the owner removes the version from the list.
    slots.activate(ImageSlot::B, installed("4.4.0", NEW));
    assert_eq!(skipped(&slots), ["4.3.0+other Left"]);
    for minor in 0..20 {
        slots.skip_version(&Version::new(5, minor, 0), SkipReason::Failed);
    }
    assert_eq!(slots.skipped.len(), SKIPPED_MAX);
    assert_eq!(slots.skipped.last().unwrap().version.minor, 19);
}

#[test]
fn malformed_slots_count_as_empty() {
    let mut slots = Slots::default();
    slots.activate(ImageSlot::A, installed("4.1.0", NEW));
    let stored = slots.to_json();
    assert_eq!(Slots::from_json(&stored), slots);
    for (member, value) in [
        ("version", json!("4.1")),
        ("sha256", json!("a7")),
        ("sha256", json!("g".repeat(64))),
        ("sha256", json!("+a".repeat(32))),
        ("standing", json!("new")),
        ("bytes", json!(-1)),
        ("starts", json!(null)),
    ] {
        let mut changed = stored.clone();
        changed["slots"]["a"][member] = value;
        assert_eq!(Slots::from_json(&changed), Slots::default(), "{member}");
        // The program in the other slot is not lost.
        changed["slots"]["b"] = stored["slots"]["a"].clone();
        assert_eq!(
            Slots::from_json(&changed).get(ImageSlot::A),
            None,
            "{member}"
        );
        assert_eq!(
            Slots::from_json(&changed).get(ImageSlot::B),
            slots.get(ImageSlot::A),
            "{member}"
        );
    }
    for list in [
        json!(7),
        json!([{"version": "4.1.0", "why": "?"}, {"why": "left"}, 3]),
    ] {
        let mut changed = stored.clone();
        changed["shunned"] = list;
        assert_eq!(Slots::from_json(&changed), slots);
    }
    // The installed program was stored as the active one by this name.
    let mut changed = stored.clone();
    changed["active"] = json!("factory");
    assert_eq!(Slots::from_json(&changed).active, None);
    assert_eq!(Slots::from_json(&Map::new()), Slots::default());
}

fn any_installed() -> impl Strategy<Value = Option<Installed>> {
    let trial_state = prop_oneof![
        (0..5_u64).prop_map(|starts| TrialState::Trial { starts }),
        Just(TrialState::Proven),
        Just(TrialState::Failed),
    ];
    let rest = (any::<[u8; 32]>(), any::<bool>(), 0..5_u64);
    let installed = (0..6_u64, trial_state, rest).prop_map(
        |(minor, trial_state, (digest, is_same_build, executions))| Installed {
            version: Version::new(4, minor, 0),
            bytes: minor,
            digest,
            factory_build: if is_same_build { "new" } else { "old" }.to_string(),
            trial_state,
            executions,
        },
    );
    proptest::option::of(installed)
}

fn any_slots() -> impl Strategy<Value = Slots> {
    let active = proptest::option::of(prop_oneof![Just(ImageSlot::A), Just(ImageSlot::B)]);
    let skipped = proptest::collection::vec(
        (0..9_u64, any::<bool>()).prop_map(|(minor, is_left)| SkippedVersion {
            version: Version::new(4, minor, 0),
            why: if is_left { SkipReason::Left } else { SkipReason::Failed },
        }),
        0..=SKIPPED_MAX,
    );
    let slots = (active, any_installed(), any_installed(), skipped);
    slots.prop_map(|(active, a, b, skipped)| {
        let slots = Slots {
            active: None,
            programs: programs(a, b),
            skipped,
            ..Slots::default()
        };
        let active = active.filter(|slot| slots.get(*slot).is_some());
        Slots { active, ..slots }
    })
}

proptest! {
    #[test]
    fn the_boot_order_ends_with_the_installed_program_and_has_no_duplicates(slots in any_slots()) {
        let ladder = slots.boot_order(&factory("4.2.0"));
        prop_assert_eq!(ladder.last(), Some(&F));
        for (at, program) in ladder.iter().enumerate() {
            prop_assert!(!ladder[..at].contains(program));
        }
    }

    #[test]
    fn writing_the_free_slot_keeps_the_running_program(slots in any_slots()) {
        let factory = factory("4.2.0");
        let before = slots.boot_order(&factory);
        let running = before[0];
        let free = slots.free_slot(running, &factory);
        prop_assert_ne!(running, Program::Slot(free));
        let mut after = slots.clone();
        after.clear(free);
        prop_assert_eq!(after.boot_order(&factory)[0], running);
    }

    #[test]
    fn stored_slots_are_parsed(slots in any_slots()) {
        prop_assert_eq!(Slots::from_json(&slots.to_json()), slots);
    }
}
