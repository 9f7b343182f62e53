//! Which program runs: the slots, what is known of what is in them, and the order in which programs are tried.

use std::fmt;

use feeds::release::is_newer;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::build;

/// Starts of a new program that may end without a verdict, such as by a power cut.
pub const TRIAL_STARTS_MAX: u64 = 3;

/// Attempts to let the supervisor of a program take over that may end without a sign that it works.
pub const HANDOVERS_MAX: u64 = 3;

/// Versions that are remembered because they are not to be installed without being asked for; the oldest goes first.
const SHUNNED_MAX: usize = 8;

/// Longest text that is kept of why an update failed, bytes.
const REASON_MAX: usize = 300;

/// A place for a program in the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageSlot {
    /// The first.
    A,
    /// The second.
    B,
}

impl ImageSlot {
    /// Both.
    pub const ALL: [ImageSlot; 2] = [ImageSlot::A, ImageSlot::B];

    /// Its name in files and in the status.
    pub fn word(self) -> &'static str {
        match self {
            ImageSlot::A => "a",
            ImageSlot::B => "b",
        }
    }

    /// Reads its name.
    pub fn parse(word: &str) -> Option<ImageSlot> {
        ImageSlot::ALL.into_iter().find(|slot| slot.word() == word)
    }

    /// The other one.
    pub fn other(self) -> ImageSlot {
        match self {
            ImageSlot::A => ImageSlot::B,
            ImageSlot::B => ImageSlot::A,
        }
    }
}

/// A program that can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// The installed one.
    Factory,
    /// The one in a slot.
    Slot(ImageSlot),
}

impl Program {
    /// Its name in the status.
    pub fn word(self) -> &'static str {
        match self {
            Program::Factory => "factory",
            Program::Slot(slot) => slot.word(),
        }
    }

    /// Its slot; none for the installed program.
    pub fn slot(self) -> Option<ImageSlot> {
        match self {
            Program::Factory => None,
            Program::Slot(slot) => Some(slot),
        }
    }
}

/// The installed program, as far as slots are compared with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factory {
    /// Its version.
    pub version: Version,
    /// What tells its build from others.
    pub build: String,
}

impl Factory {
    /// This program.
    pub fn own() -> Factory {
        let facts = build::BuildFacts::own();
        let time = facts.time.unwrap_or_default();
        Factory {
            version: Version::parse(build::VERSION).unwrap_or(Version::new(0, 0, 0)),
            build: format!("{}-{}-{time}", facts.version, facts.commit),
        }
    }
}

/// What is known of a program in a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its version.
    pub version: Version,
    /// Length of its file, bytes.
    pub bytes: u64,
    /// SHA-256 of its file.
    #[serde(rename = "sha256", with = "hex::serde")]
    pub digest: [u8; 32],
    /// Build of the installed program at that time.
    pub beside: String,
    /// Whether it works.
    #[serde(flatten)]
    pub standing: TrialState,
    /// Times that its supervisor was let take over without a sign that it works.
    #[serde(default)]
    pub handovers: u64,
}

/// Whether a program has passed its trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "lowercase")]
pub enum TrialState {
    /// It is on trial, and was started so many times.
    Trial {
        /// Starts without a verdict.
        starts: u64,
    },
    /// It has shown that it works.
    Proven,
    /// It has shown that it does not.
    Failed,
}

impl Installed {
    /// Tells whether it is used at all: one that is newer than the installed program, or that was put beside just this
    /// one. So a package that was upgraded counts, and yet an owner can go back to an older version.
    fn counts(&self, factory: &Factory) -> bool {
        is_newer(&self.version, &factory.version) || self.beside == factory.build
    }

    fn may_run(&self, factory: &Factory) -> bool {
        let works = match self.standing {
            TrialState::Trial { starts } => starts < TRIAL_STARTS_MAX,
            TrialState::Proven => true,
            TrialState::Failed => false,
        };
        works && self.counts(factory)
    }
}

/// A version that is installed only if somebody asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shunned {
    /// The version.
    pub version: Version,
    /// Why.
    pub why: Shun,
}

/// Why a version is not installed without being asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shun {
    /// It was tried here and did not work.
    Failed,
    /// It ran here, and somebody went back to an older one.
    Left,
}

/// The slots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slots {
    /// The slot that runs; none for the installed program.
    pub active: Option<ImageSlot>,
    /// What is in the first.
    pub a: Option<Installed>,
    /// What is in the second.
    pub b: Option<Installed>,
    /// Why the last update failed, in words for people; none if it did not.
    pub last_failure: Option<String>,
    /// What is not installed without being asked for, the newest last.
    pub shunned: Vec<Shunned>,
}

impl Slots {
    /// What is in a slot.
    pub fn get(&self, slot: ImageSlot) -> Option<&Installed> {
        match slot {
            ImageSlot::A => self.a.as_ref(),
            ImageSlot::B => self.b.as_ref(),
        }
    }

    fn place(&mut self, slot: ImageSlot) -> &mut Option<Installed> {
        match slot {
            ImageSlot::A => &mut self.a,
            ImageSlot::B => &mut self.b,
        }
    }

    /// The programs in the order in which they are tried; the installed one is the last.
    pub fn ladder(&self, factory: &Factory) -> Vec<Program> {
        let usable = |slot: &ImageSlot| {
            self.get(*slot)
                .is_some_and(|installed| installed.may_run(factory))
        };
        let active = self.active.filter(usable);
        // Only what has run before stands in for another.
        let proven = |slot: &ImageSlot| {
            let standing = self.get(*slot).map(|installed| installed.standing);
            standing == Some(TrialState::Proven) && usable(slot)
        };
        let other = self.active.map(ImageSlot::other).filter(proven);
        let slots = active.into_iter().chain(other);
        slots.map(Program::Slot).chain([Program::Factory]).collect()
    }

    /// Tells whether a program is on trial.
    pub fn is_trial(&self, program: Program) -> bool {
        let installed = program.slot().and_then(|slot| self.get(slot));
        installed.is_some_and(|installed| matches!(installed.standing, TrialState::Trial { .. }))
    }

    /// Remembers that a version is not to be installed without being asked for. Builds of one version are one release.
    pub fn shun(&mut self, version: &Version, why: Shun) {
        self.forgive(version);
        let version = version.clone();
        self.shunned.push(Shunned { version, why });
        let spare = self.shunned.len().saturating_sub(SHUNNED_MAX);
        self.shunned.drain(..spare);
    }

    fn forgive(&mut self, version: &Version) {
        self.shunned
            .retain(|shunned| shunned.version.cmp_precedence(version).is_ne());
    }

    /// The slot for the next image: never the one that runs, and never the active one while that is worth keeping.
    pub fn free(&self, running: Program, factory: &Factory) -> ImageSlot {
        if let Program::Slot(slot) = running {
            return slot.other();
        }
        let kept = self.active.filter(|slot| {
            self.get(*slot)
                .is_some_and(|installed| installed.may_run(factory))
        });
        kept.map_or(ImageSlot::A, ImageSlot::other)
    }

    /// Forgets what is in a slot, whose file is about to be written.
    pub fn clear(&mut self, slot: ImageSlot) {
        *self.place(slot) = None;
        if self.active == Some(slot) {
            // What stood in for it goes on running.
            let other = slot.other();
            let standing = self.get(other).map(|installed| installed.standing);
            self.active = (standing == Some(TrialState::Proven)).then_some(other);
        }
    }

    /// Lets a program run from the next start on.
    pub fn switch(&mut self, slot: ImageSlot, installed: Installed) {
        self.forgive(&installed.version);
        *self.place(slot) = Some(installed);
        self.active = Some(slot);
    }

    /// Counts a start of a program that is on trial.
    pub fn started(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.place(slot)
            && let TrialState::Trial { starts } = &mut installed.standing
        {
            *starts += 1;
        }
    }

    /// The active slot, if its program was started as often as it may be without a verdict.
    pub fn worn(&self) -> Option<ImageSlot> {
        let is_worn = |slot: &ImageSlot| {
            let standing = self.get(*slot).map(|installed| installed.standing);
            matches!(standing, Some(TrialState::Trial { starts }) if starts >= TRIAL_STARTS_MAX)
        };
        self.active.filter(is_worn)
    }

    /// Counts an attempt to let the supervisor of a program take over.
    pub fn handing_over(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.place(slot) {
            installed.handovers += 1;
        }
    }

    /// Notes that the supervisor of a program works.
    pub fn handed_over(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.place(slot) {
            installed.handovers = 0;
        }
    }

    /// Notes that a program works.
    pub fn passed(&mut self, slot: ImageSlot) {
        if let Some(installed) = self.place(slot) {
            installed.standing = TrialState::Proven;
        }
        self.last_failure = None;
    }

    /// Notes that a program does not work, and why.
    pub fn failed(&mut self, slot: ImageSlot, reason: &str) {
        if let Some(installed) = self.place(slot) {
            installed.standing = TrialState::Failed;
            let version = installed.version.clone();
            self.shun(&version, Shun::Failed);
            self.note(&format!("version {version} was given up: {reason}"));
        }
    }

    /// Notes why a program that did work was left aside.
    pub fn left_aside(&mut self, slot: ImageSlot, reason: &str) {
        if let Some(installed) = self.place(slot) {
            let version = installed.version.clone();
            self.shun(&version, Shun::Failed);
            self.note(&format!("version {version} was left aside: {reason}"));
        }
    }

    /// Notes why an update failed.
    pub fn note(&mut self, failure: &str) {
        let end = failure.floor_char_boundary(REASON_MAX);
        self.last_failure = Some(failure[..end].to_string());
    }

    /// As it is stored.
    pub fn to_json(&self) -> Map<String, Value> {
        let slots = ImageSlot::ALL.into_iter();
        let slots = slots.filter_map(|slot| Some((slot.word().into(), json!(self.get(slot)?))));
        let mut map = Map::new();
        let active = self.active.map_or("factory", ImageSlot::word);
        map.insert("active".into(), active.into());
        map.insert("slots".into(), Value::Object(slots.collect()));
        map.insert("lastFailure".into(), json!(self.last_failure));
        map.insert("shunned".into(), json!(self.shunned));
        map
    }

    /// From what was stored; a slot that is not understood counts as empty.
    pub fn from_json(map: &Map<String, Value>) -> Slots {
        let text = |name: &str| map.get(name).and_then(Value::as_str);
        let installed =
            |slot: ImageSlot| Installed::deserialize(map.get("slots")?.get(slot.word())?).ok();
        let shunned = map.get("shunned").and_then(Value::as_array);
        let shunned = shunned.into_iter().flatten();
        let shunned = shunned.filter_map(|shunned| Shunned::deserialize(shunned).ok());
        let slots = Slots {
            active: None,
            a: installed(ImageSlot::A),
            b: installed(ImageSlot::B),
            last_failure: text("lastFailure").map(str::to_string),
            shunned: shunned.take(SHUNNED_MAX).collect(),
        };
        let active = text("active").and_then(ImageSlot::parse);
        Slots {
            active: active.filter(|slot| slots.get(*slot).is_some()),
            ..slots
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program::Factory => formatter.write_str("the installed program"),
            Program::Slot(slot) => write!(formatter, "the program in slot {}", slot.word()),
        }
    }
}

/// Which program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firmware {
    /// The program.
    pub running: Program,
    /// Its version.
    pub version: String,
    /// The installed program, with which slots are compared.
    pub factory: Factory,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use proptest::prelude::*;

    use super::*;

    fn installed(version: &str, standing: TrialState) -> Installed {
        Installed {
            version: version.parse().unwrap(),
            bytes: 7,
            digest: [0xA7; 32],
            beside: "old".to_string(),
            standing,
            handovers: 0,
        }
    }

    fn factory(version: &str) -> Factory {
        Factory {
            version: version.parse().unwrap(),
            build: "new".to_string(),
        }
    }

    const NEW: TrialState = TrialState::Trial { starts: 0 };
    const A: Program = Program::Slot(ImageSlot::A);
    const B: Program = Program::Slot(ImageSlot::B);
    const F: Program = Program::Factory;

    #[test]
    fn programs_are_tried_from_the_newest_to_the_installed_one() {
        use TrialState::{Failed, Proven};
        let worn = TrialState::Trial {
            starts: TRIAL_STARTS_MAX,
        };
        let last = TrialState::Trial {
            starts: TRIAL_STARTS_MAX - 1,
        };
        let (a, b) = (Some(ImageSlot::A), Some(ImageSlot::B));
        for (active, in_a, in_b, expected) in [
            (None, None, None, &[F][..]),
            (a, None, None, &[F]),
            (a, Some(("4.1.0", NEW)), None, &[A, F]),
            (a, Some(("4.1.0", last)), None, &[A, F]),
            (a, Some(("4.1.0", worn)), None, &[F]),
            (a, Some(("4.1.0", Failed)), None, &[F]),
            (b, Some(("4.1.0", Proven)), Some(("4.2.0", NEW)), &[B, A, F]),
            (b, Some(("4.1.0", Proven)), Some(("4.2.0", Failed)), &[A, F]),
            (b, Some(("4.1.0", NEW)), Some(("4.2.0", Failed)), &[F]),
            (
                a,
                Some(("4.2.0", Proven)),
                Some(("4.1.0", Proven)),
                &[A, B, F],
            ),
            (a, Some(("4.2.0", Proven)), Some(("4.1.0", Failed)), &[A, F]),
            (None, Some(("4.2.0", Proven)), Some(("4.1.0", Proven)), &[F]),
            // The installed program is 4.0.0.
            (a, Some(("4.0.0", Proven)), Some(("3.9.0", Proven)), &[F]),
            (
                a,
                Some(("4.0.0-rc.1", Proven)),
                Some(("4.0.1", Proven)),
                &[B, F],
            ),
        ] {
            let slot = |entry: Option<(&str, TrialState)>| {
                entry.map(|(version, standing)| installed(version, standing))
            };
            let slots = Slots {
                active,
                a: slot(in_a),
                b: slot(in_b),
                ..Slots::default()
            };
            assert_eq!(slots.ladder(&factory("4.0.0")), expected, "{slots:?}");
        }
    }

    #[test]
    fn a_package_that_was_upgraded_counts_more_than_an_older_slot() {
        let mut slots = Slots::default();
        let older = Installed {
            beside: "new".to_string(),
            ..installed("3.9.0", TrialState::Proven)
        };
        slots.switch(ImageSlot::A, older);
        let here = factory("4.0.0");
        assert_eq!(slots.ladder(&here), [A, F], "the owner wanted it");
        let upgraded = Factory {
            build: "newer".to_string(),
            ..factory("4.0.1")
        };
        assert_eq!(slots.ladder(&upgraded), [F]);
        slots.switch(ImageSlot::A, installed("4.1.0", TrialState::Proven));
        assert_eq!(slots.ladder(&upgraded), [A, F]);
        assert_eq!(slots.ladder(&factory("4.1.0")), [F], "as new as the slot");
    }

    #[test]
    fn an_update_that_does_not_work_is_gone_back_from() {
        let factory = factory("4.0.0");
        let mut slots = Slots::default();
        slots.switch(ImageSlot::A, installed("4.1.0", NEW));
        assert!(slots.is_trial(A));
        slots.passed(ImageSlot::A);
        assert!(!slots.is_trial(A) && !slots.is_trial(F));
        slots.switch(ImageSlot::B, installed("4.2.0", NEW));
        slots.started(ImageSlot::B);
        assert_eq!(slots.ladder(&factory), [B, A, F]);
        slots.failed(ImageSlot::B, "it painted nothing");
        assert_eq!(slots.ladder(&factory), [A, F]);
        assert_eq!(
            slots.last_failure.as_deref(),
            Some("version 4.2.0 was given up: it painted nothing")
        );
        assert_eq!(slots.free(A, &factory), ImageSlot::B);
        slots.clear(ImageSlot::B);
        assert_eq!(slots.ladder(&factory), [A, F], "until the switch");
        slots.switch(ImageSlot::B, installed("4.2.1", NEW));
        slots.passed(ImageSlot::B);
        assert_eq!(slots.last_failure, None);
        slots.failed(ImageSlot::A, &"ü".repeat(500));
        assert!(slots.last_failure.unwrap().len() <= REASON_MAX);
    }

    #[test]
    fn the_next_image_takes_no_place_that_is_needed() {
        let factory = factory("4.0.0");
        let mut slots = Slots::default();
        assert_eq!(slots.free(F, &factory), ImageSlot::A);
        slots.switch(ImageSlot::A, installed("4.1.0", TrialState::Proven));
        assert_eq!(slots.free(A, &factory), ImageSlot::B);
        assert_eq!(
            slots.free(F, &factory),
            ImageSlot::B,
            "the installed one stands in"
        );
        slots.failed(ImageSlot::A, "");
        assert_eq!(slots.free(F, &factory), ImageSlot::A, "it is worth nothing");
        slots.switch(ImageSlot::B, installed("4.1.0", NEW));
        assert_eq!(slots.free(B, &factory), ImageSlot::A);
    }

    #[test]
    fn what_is_shunned_is_remembered_whatever_is_in_the_slots() {
        let mut slots = Slots::default();
        let told = |slots: &Slots| -> Vec<String> {
            let word = |shunned: &Shunned| format!("{} {:?}", shunned.version, shunned.why);
            slots.shunned.iter().map(word).collect()
        };
        slots.switch(ImageSlot::A, installed("4.3.0", NEW));
        slots.failed(ImageSlot::A, "");
        slots.switch(ImageSlot::A, installed("4.2.1", NEW));
        assert_eq!(told(&slots), ["4.3.0 Failed"]);
        slots.shun(&Version::new(4, 4, 0), Shun::Left);
        slots.shun(&"4.3.0+other".parse().unwrap(), Shun::Left);
        assert_eq!(told(&slots), ["4.4.0 Left", "4.3.0+other Left"]);
        // Who installs it all the same begins anew.
        slots.switch(ImageSlot::B, installed("4.4.0", NEW));
        assert_eq!(told(&slots), ["4.3.0+other Left"]);
        for minor in 0..20 {
            slots.shun(&Version::new(5, minor, 0), Shun::Failed);
        }
        assert_eq!(slots.shunned.len(), SHUNNED_MAX);
        assert_eq!(slots.shunned.last().unwrap().version.minor, 19);
    }

    #[test]
    fn what_is_not_understood_counts_as_empty() {
        let mut slots = Slots::default();
        slots.switch(ImageSlot::A, installed("4.1.0", NEW));
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
        }
        for shunned in [
            json!(7),
            json!([{"version": "4.1.0", "why": "?"}, {"why": "left"}, 3]),
        ] {
            let mut changed = stored.clone();
            changed["shunned"] = shunned;
            assert_eq!(Slots::from_json(&changed), slots);
        }
        assert_eq!(Slots::from_json(&Map::new()), Slots::default());
    }

    fn any_installed() -> impl Strategy<Value = Option<Installed>> {
        let standing = prop_oneof![
            (0..5_u64).prop_map(|starts| TrialState::Trial { starts }),
            Just(TrialState::Proven),
            Just(TrialState::Failed),
        ];
        let rest = (any::<[u8; 32]>(), any::<bool>(), 0..5_u64);
        let installed =
            (0..6_u64, standing, rest).prop_map(|(minor, standing, (digest, here, handovers))| {
                Installed {
                    version: Version::new(4, minor, 0),
                    bytes: minor,
                    digest,
                    beside: if here { "new" } else { "old" }.to_string(),
                    standing,
                    handovers,
                }
            });
        proptest::option::of(installed)
    }

    fn any_slots() -> impl Strategy<Value = Slots> {
        let active = proptest::option::of(prop_oneof![Just(ImageSlot::A), Just(ImageSlot::B)]);
        let shunned = proptest::collection::vec(
            (0..9_u64, any::<bool>()).prop_map(|(minor, is_left)| Shunned {
                version: Version::new(4, minor, 0),
                why: if is_left { Shun::Left } else { Shun::Failed },
            }),
            0..=SHUNNED_MAX,
        );
        let slots = (active, any_installed(), any_installed(), shunned);
        slots.prop_map(|(active, a, b, shunned)| {
            let slots = Slots {
                active: None,
                a,
                b,
                shunned,
                ..Slots::default()
            };
            let active = active.filter(|slot| slots.get(*slot).is_some());
            Slots { active, ..slots }
        })
    }

    proptest! {
        #[test]
        fn there_is_always_a_program_and_none_twice(slots in any_slots()) {
            let ladder = slots.ladder(&factory("4.2.0"));
            prop_assert_eq!(ladder.last(), Some(&F));
            for (at, program) in ladder.iter().enumerate() {
                prop_assert!(!ladder[..at].contains(program));
            }
        }

        #[test]
        fn writing_the_free_slot_costs_at_most_the_one_that_stands_in(slots in any_slots()) {
            let factory = factory("4.2.0");
            let before = slots.ladder(&factory);
            let running = before[0];
            let free = slots.free(running, &factory);
            prop_assert_ne!(running, Program::Slot(free));
            let mut after = slots.clone();
            after.clear(free);
            prop_assert_eq!(after.ladder(&factory)[0], running);
        }

        #[test]
        fn what_was_stored_is_read(slots in any_slots()) {
            prop_assert_eq!(Slots::from_json(&slots.to_json()), slots);
        }
    }
}
