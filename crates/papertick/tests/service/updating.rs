//! Updates on a disk that fails or loses power: the clock runs the old or the new program.

use feeds::image::{
    self, ImageFacts, ImageHeader, ImageKind, Packed, VerifyingKey,
    page::{Manifest, Page},
};
use minisign::KeyPair;
use semver::Version;
use serde_json::json;
use storage::disk::{Disk, Folder};
use updates::{
    image_store::ImageStore,
    policy::{AcceptedVersions, ImagePolicy, ImageRefusal, Signatures},
    record,
    slots::{Factory, ImageSlot, Program, SkipReason, Slots},
};

use lab::sim_disk::{Dice, DiskFault, SharedDisk, SimDisk};

/// More steps than any update takes.
const STEPS: usize = 48;

fn version(minor: u64) -> Version {
    Version::new(4, minor, 0)
}

fn factory() -> Factory {
    Factory {
        version: version(0),
        build: "factory".to_string(),
    }
}

fn program(minor: u64) -> Vec<u8> {
    format!("program {minor} ").repeat(50).into_bytes()
}

fn facts(kind: ImageKind, minor: u64) -> ImageFacts {
    let word = |word: &str| match kind {
        ImageKind::Firmware => word.to_string(),
        ImageKind::Page => String::new(),
    };
    ImageFacts {
        kind,
        build_time: 0,
        board: word("rev-b"),
        panel: word("122x250"),
        target: word("x86_64-unknown-linux-gnu"),
        version: version(minor),
        commit: String::new(),
    }
}

fn firmware(minor: u64) -> Vec<u8> {
    let packed = Packed::new(&program(minor));
    packed.image(facts(ImageKind::Firmware, minor)).unwrap()
}

fn page(minor: u64) -> Vec<u8> {
    let manifest = json!({
        "commit": format!("page-{minor}"),
        "buildTime": minor,
        "minFirmware": "4.0.0",
    });
    let manifest = manifest.to_string().into_bytes();
    let page = Page {
        manifest: Manifest::parse(&manifest).unwrap(),
        files: [("manifest.json", manifest), ("index.html", Vec::new())]
            .map(|(name, content)| (name.to_string(), content))
            .into(),
    };
    let packed = Packed::new(&page.write().unwrap());
    packed.image(facts(ImageKind::Page, minor)).unwrap()
}

fn policy(kind: ImageKind, running: u64) -> ImagePolicy {
    ImagePolicy {
        kind,
        bytes_max: 10_000,
        board: "rev-b".to_string(),
        panel: "122x250".to_string(),
        target: "x86_64-unknown-linux-gnu".to_string(),
        running: version(running),
        versions: AcceptedVersions::NotOlder,
        keys: Vec::new(),
        signatures: Signatures::NotRequired,
    }
}

fn store(disk: &SharedDisk, running: Program) -> ImageStore {
    ImageStore::open(Box::new(disk.clone()), running, factory())
}

fn update(
    store: &mut ImageStore,
    image: &[u8],
    judge: ImagePolicy,
) -> Result<ImageHeader, ImageRefusal> {
    store.begin(judge)?;
    for part in image.chunks(300) {
        store.append(part)?;
    }
    store.received(None)?;
    let head = store.verify()?;
    store.activate()?;
    Ok(head)
}

fn signed_by(pair: &KeyPair, image: &[u8]) -> Vec<u8> {
    let made = minisign::sign(None, &pair.sk, image, None, None).unwrap();
    let signature = image::Signature::parse_all(made.to_string().as_bytes()).unwrap();
    let behind = image::sign(&[], &signature[0]).unwrap();
    [image, behind.as_bytes()].concat()
}

/// The program that a supervisor would start, and its version.
fn start(disk: &mut SimDisk) -> (Program, u64) {
    let (slots, _) = record::load_and_repair(disk);
    for program in slots.boot_order(&factory()) {
        let Program::Slot(slot) = program else { break };
        if !record::is_intact(disk, &slots, slot).unwrap() {
            continue;
        }
        let _ = record::change(disk, |slots| slots.count_start(slot));
        let installed = slots.get(slot).unwrap();
        let file = record::program_file(slot);
        assert_eq!(
            disk.bytes(&file),
            Some(&self::program(installed.version.minor)[..])
        );
        assert!(disk.is_startable(&file), "{file}");
        return (program, installed.version.minor);
    }
    (Program::Factory, 0)
}

/// A disk after successful updates to these versions.
fn updated(versions: &[u64]) -> SimDisk {
    let disk = SharedDisk::default();
    for minor in versions {
        let (running, before) = start(&mut disk.look());
        let mut store = store(&disk, running);
        update(
            &mut store,
            &firmware(*minor),
            policy(ImageKind::Firmware, before),
        )
        .unwrap();
        let mut here = disk.look();
        let (program, _) = start(&mut here);
        record::change(&mut disk.clone(), |slots| {
            slots.mark_proven(program.slot().unwrap());
        })
        .unwrap();
    }
    disk.look()
}

/// A disk after a rollback of the last update.
fn after_rollback() -> SimDisk {
    let disk = SharedDisk::of(updated(&[1]));
    let mut store = store(&disk, Program::Slot(ImageSlot::A));
    update(&mut store, &firmware(2), policy(ImageKind::Firmware, 1)).unwrap();
    record::change(&mut disk.clone(), |slots| {
        slots.mark_failed(ImageSlot::B, "")
    })
    .unwrap();
    disk.look()
}

/// Disks with no, one or two used slots, and after a rollback; each with the running version.
fn initial_disks() -> [(SimDisk, u64); 5] {
    [
        (after_rollback(), 1),
        (SimDisk::default(), 0),
        (updated(&[1]), 1),
        (updated(&[1, 2]), 2),
        (updated(&[1, 2, 3]), 3),
    ]
}

#[test]
fn a_failed_step_keeps_the_old_program_and_allows_the_next_update() {
    for (beginning, old) in initial_disks() {
        for step in 1..=STEPS {
            let (running, _) = start(&mut beginning.clone());
            let disk = SharedDisk::of(beginning.clone());
            let mut store = store(&disk, running);
            disk.arrange(step, DiskFault::Error);
            let updated = update(&mut store, &firmware(9), policy(ImageKind::Firmware, old));
            let (_, found) = start(&mut disk.look().healthy());
            let expected = if updated.is_ok() { 9 } else { old };
            assert_eq!(found, expected, "from {old}, error at step {step}");
            if let Err(refusal) = updated {
                assert!(
                    matches!(refusal, ImageRefusal::Disk(_)),
                    "step {step}: {refusal}"
                );
                update(&mut store, &firmware(9), policy(ImageKind::Firmware, old)).unwrap();
                assert_eq!(start(&mut disk.look()).1, 9);
            }
        }
    }
}

#[test]
fn consecutive_power_cuts_never_lose_an_acknowledged_update() {
    for seed in 1..=24 {
        let mut dice = Dice(seed * 104_729);
        let mut disk = SimDisk::default();
        let (mut acknowledged, mut attempted) = (0, 0);
        for _ in 0..25 {
            let (running, found) = start(&mut disk);
            assert!(
                (acknowledged..=attempted).contains(&found),
                "found {found}, acknowledged {acknowledged}, attempted {attempted}, seed {seed}"
            );
            acknowledged = found;
            let shared = SharedDisk::of(disk);
            if let Program::Slot(slot) = running {
                record::change(&mut shared.clone(), |slots| slots.mark_proven(slot)).unwrap();
            }
            shared.arrange(1 + dice.below(2 * STEPS), DiskFault::PowerCut);
            attempted = found + 1;
            let mut store = store(&shared, running);
            if update(
                &mut store,
                &firmware(attempted),
                policy(ImageKind::Firmware, found),
            )
            .is_ok()
            {
                acknowledged = attempted;
            }
            disk = shared.look().after_power_cut(&mut dice);
            // The next update succeeds with the files that the power cut left.
            let (running, found) = start(&mut disk.clone());
            let next = SharedDisk::of(disk.clone());
            let policy = policy(ImageKind::Firmware, found);
            update(&mut self::store(&next, running), &firmware(99), policy).unwrap();
            assert_eq!(start(&mut next.look()).1, 99, "seed {seed}");
            let is_left = |name: &String| name.ends_with(".part") || name.ends_with(".new");
            assert!(!next.look().all_names().iter().any(is_left), "seed {seed}");
        }
    }
}

#[test]
fn a_page_for_other_firmware_is_refused() {
    let disk = SharedDisk::default();
    let mut store = store(&disk, Program::Factory);
    let old = ImagePolicy {
        running: Version::new(3, 9, 0),
        ..policy(ImageKind::Page, 0)
    };
    let refusal = update(&mut store, &page(1), old).unwrap_err();
    assert!(
        refusal.to_string().contains("needs version 4.0.0"),
        "{refusal}"
    );
    let packed = Packed::new(b"no archive")
        .image(facts(ImageKind::Page, 1))
        .unwrap();
    let refusal = update(&mut store, &packed, policy(ImageKind::Page, 0)).unwrap_err();
    assert!(refusal.to_string().contains("is not a page"), "{refusal}");
    assert_eq!(disk.look().all_names(), [""; 0]);
}

#[test]
fn a_version_after_a_rollback_is_recorded_as_left() {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    for (running, minor, expected) in [(2, 1, &[(version(2), SkipReason::Left)][..]), (1, 2, &[])] {
        let disk = SharedDisk::of(updated(&[running]));
        let mut store = store(&disk, Program::Slot(ImageSlot::A));
        let judge = ImagePolicy {
            versions: AcceptedVersions::All,
            keys: vec![VerifyingKey::parse(&pair.pk.to_base64()).unwrap()],
            ..policy(ImageKind::Firmware, running)
        };
        update(&mut store, &signed_by(&pair, &firmware(minor)), judge).unwrap();
        let (slots, _) = record::load_and_repair(&mut disk.clone());
        let skipped = slots.skipped.into_iter();
        let skipped: Vec<_> = skipped
            .map(|skipped| (skipped.version, skipped.why))
            .collect();
        assert_eq!(skipped, expected, "{running} to {minor}");
    }
}

#[test]
fn records_of_two_processes_are_not_lost() {
    const NOTES: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let note = |sign: char| {
        for _ in 0..NOTES {
            record::change(&mut Folder::new(folder.path()), |slots| {
                let before = slots.last_failure.take().unwrap_or_default();
                slots.last_failure = Some(format!("{before}{sign}"));
            })
            .unwrap();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| note('a'));
        note('b');
    });
    let noted = record::load(&mut Folder::new(folder.path())).last_failure;
    assert_eq!(noted.unwrap().len(), 2 * NOTES);
}

/// A disk with two working programs and given records.
fn with_records(files: [Option<&[u8]>; 2]) -> SharedDisk {
    let mut disk = updated(&[1, 2]);
    for (name, bytes) in ["firmware.json", "firmware.json.previous"]
        .into_iter()
        .zip(files)
    {
        if let Some(bytes) = bytes {
            disk.write(name, bytes).unwrap();
            disk.sync(name).unwrap();
        }
    }
    SharedDisk::of(disk)
}

#[test]
fn damaged_records_are_set_aside_and_reported_until_the_next_update() {
    let damaged: Option<&[u8]> = Some(b"{\"damaged");
    for (files, is_recovered) in [([damaged, None], true), ([damaged, damaged], false)] {
        // The damage is found by the first read or write.
        for by_read in [true, false] {
            let disk = with_records(files);
            let slots = if by_read {
                record::load_and_repair(&mut disk.clone()).0
            } else {
                record::change(&mut disk.clone(), |slots| slots.mark_proven(ImageSlot::A)).unwrap()
            };
            let failure = slots.last_failure.clone().unwrap();
            assert!(failure.contains("firmware.json is not usable"), "{failure}");
            assert!(failure.contains("firmware.json.damaged-1"), "{failure}");
            assert_eq!(slots.get(ImageSlot::A).is_some(), is_recovered, "{files:?}");
            let later = record::load_and_repair(&mut disk.clone());
            assert_eq!(
                later,
                (slots, Vec::new()),
                "a second load keeps the failure and adds no warning"
            );
            let names = disk.look().all_names();
            assert!(
                names.contains(&"firmware.json.damaged-1".to_string()),
                "{names:?}"
            );
            // The next update works, and ends the report.
            let mut store = store(&disk, Program::Factory);
            update(&mut store, &firmware(3), policy(ImageKind::Firmware, 0)).unwrap();
            let active = record::load(&mut disk.clone()).active.unwrap();
            let slots =
                record::change(&mut disk.clone(), |slots| slots.mark_proven(active)).unwrap();
            assert_eq!(slots.last_failure, None);
        }
    }
}

#[test]
fn records_that_cannot_be_read_are_not_replaced() {
    let whole = updated(&[1, 2]);
    let before = whole.bytes("firmware.json").unwrap().to_vec();
    let disk = SharedDisk::of(whole.with_unreadable("firmware.json", u32::MAX));
    let failure = record::load(&mut disk.clone()).last_failure;
    assert_eq!(failure, None, "the previous generation can be read");
    for change in [
        |slots: &mut Slots| slots.set_failure("the newest release was not installed"),
        |slots: &mut Slots| slots.mark_proven(ImageSlot::A),
    ] {
        let refused = record::change(&mut disk.clone(), change).unwrap_err();
        let refused = refused.to_string();
        assert!(
            refused.contains("firmware.json cannot be read") && refused.contains("move it away"),
            "{refused}"
        );
    }
    let mut store = store(&disk, Program::Factory);
    let refused = update(&mut store, &firmware(3), policy(ImageKind::Firmware, 0)).unwrap_err();
    assert!(
        refused.to_string().contains("firmware.json cannot be read"),
        "{refused}"
    );
    drop(store);
    let healthy = disk.look().healthy();
    assert_eq!(healthy.bytes("firmware.json"), Some(before.as_slice()));

    let both = healthy
        .with_unreadable("firmware.json", u32::MAX)
        .with_unreadable("firmware.json.previous", u32::MAX);
    let failure = record::load(&mut SharedDisk::of(both)).last_failure;
    assert!(failure.unwrap().contains("cannot be read"));
}
