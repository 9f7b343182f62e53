//! Which clocks install which release.

use device::releases::{ReleaseChannel, ReleaseRule, ReleaseVerdict};
use feeds::{
    release::{self, ListedRelease},
    staging::{Here, choose, judge, number},
};
use semver::Version;

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn rule() -> ReleaseRule {
    ReleaseRule {
        channel: ReleaseChannel::Stable,
        pin: String::new(),
        share: 100,
        id: "papertick-aabbcc".into(),
    }
}

/// Name of the clock's image.
const IMAGE: &str = "papertick-rev-b.img";

fn release(tag: &str) -> ListedRelease {
    list(&[tag]).remove(0)
}

/// The verdict of a clock with version 4.2.0 on an unrestricted release.
fn verdict(rule: &ReleaseRule, offered: &str) -> ReleaseVerdict {
    let here = Here {
        running: &version("4.2.0"),
        image: IMAGE,
        excluded: &[],
    };
    judge(rule, &release(offered), &version(offered), &here)
}

#[test]
fn the_bucket_of_a_clock_is_documented() {
    // printf 'papertick-aabbcc 4.3.0' | sha256sum | cut -c1-8
    assert_eq!(number("papertick-aabbcc", &version("4.3.0")), NUMBER);
    let docs = include_str!("../../../../docs/fleet.md");
    let command =
        format!("papertick-aabbcc 4.3.0' | sha256sum | cut -c1-8) % 100 ))     # {NUMBER}");
    assert!(docs.contains(&command), "{command}");
}

/// Computed by another program.
const NUMBER: u8 = 91;

#[test]
fn a_larger_share_includes_the_clocks_of_a_smaller_one() {
    let clocks: Vec<String> = (0..1000)
        .map(|clock| format!("papertick-{clock:06x}"))
        .collect();
    let installers = |share: u8, version: &str| -> Vec<&String> {
        let installs = |id: &&String| {
            let rule = ReleaseRule {
                share,
                id: (*id).clone(),
                ..rule()
            };
            let verdict = verdict(&rule, version);
            assert!([ReleaseVerdict::Taken, ReleaseVerdict::Share].contains(&verdict));
            verdict == ReleaseVerdict::Taken
        };
        clocks.iter().filter(installs).collect()
    };
    assert_eq!(installers(0, "4.3.0").len(), 0);
    assert_eq!(installers(100, "4.3.0").len(), 1000);
    let (tenth, half) = (installers(10, "4.3.0"), installers(50, "4.3.0"));
    assert!((70..=130).contains(&tenth.len()), "{}", tenth.len());
    assert!((440..=560).contains(&half.len()), "{}", half.len());
    assert!(tenth.iter().all(|clock| half.contains(clock)));
    // Another release starts with other clocks.
    let next = installers(10, "4.4.0");
    let both = tenth.iter().filter(|clock| next.contains(clock)).count();
    assert!(both < 40, "{both}");
}

#[test]
fn every_broken_rule_has_its_reason() {
    type Change = fn(&mut ReleaseRule);
    #[rustfmt::skip]
    let cases: [(Change, &str, ReleaseVerdict); 12] = [
        (|_| {}, "4.3.0", ReleaseVerdict::Taken),
        (|_| {}, "4.2.0", ReleaseVerdict::NotNewer),
        (|_| {}, "4.2.0+other", ReleaseVerdict::NotNewer),
        (|_| {}, "4.1.9", ReleaseVerdict::NotNewer),
        (|_| {}, "4.3.0-rc.1", ReleaseVerdict::Channel),
        (|rule| rule.channel = ReleaseChannel::Preview, "4.3.0-rc.1", ReleaseVerdict::Taken),
        (|rule| rule.pin = "4.3.0".into(), "4.3.0+build", ReleaseVerdict::Taken),
        (|rule| rule.pin = "4.3.1".into(), "4.3.0", ReleaseVerdict::Pin),
        (|rule| rule.pin = "4.3.0-rc.1".into(), "4.3.0-rc.1", ReleaseVerdict::Channel),
        // A downgrade needs the owner.
        (|rule| rule.pin = "4.1.0".into(), "4.1.0", ReleaseVerdict::NotNewer),
        (|rule| rule.share = 0, "4.3.0", ReleaseVerdict::Share),
        (|rule| rule.share = NUMBER, "4.3.0", ReleaseVerdict::Share),
    ];
    for (change, offered, expected) in cases {
        let mut rule = rule();
        change(&mut rule);
        assert_eq!(verdict(&rule, offered), expected, "{offered} {rule:?}");
    }
    let just = ReleaseRule {
        share: NUMBER + 1,
        ..rule()
    };
    assert_eq!(verdict(&just, "4.3.0"), ReleaseVerdict::Taken);
}

fn list(tags: &[&str]) -> Vec<ListedRelease> {
    let asset = |name: &str| serde_json::json!({"name": name, "browser_download_url": name});
    let assets = [asset(IMAGE), asset(&format!("{IMAGE}.sha256"))];
    let entry = |tag: &&str| serde_json::json!({"tag_name": tag, "name": format!("Release {tag}"), "assets": assets});
    let list: Vec<_> = tags.iter().map(entry).collect();
    release::feed(serde_json::json!(list).to_string().as_bytes()).unwrap()
}

#[test]
fn the_newest_installable_release_is_chosen() {
    let preview = ReleaseRule {
        channel: ReleaseChannel::Preview,
        ..rule()
    };
    let pinned = ReleaseRule {
        pin: "4.3.0".into(),
        ..rule()
    };
    let no_clock = ReleaseRule { share: 0, ..rule() };
    let tags = ["v4.1.0", "4.4.0", "v4.5.0-rc.1", "4.3.0", "latest"];
    let chosen = |rule: &ReleaseRule, tags: &[&str], running: &str| {
        let releases = list(tags);
        let here = Here {
            running: &version(running),
            image: IMAGE,
            excluded: &[],
        };
        let chosen = choose(&releases, rule, &here);
        chosen.map(|(release, seen)| {
            assert_eq!(seen.title, release.title);
            (release.tag.clone(), seen.version, seen.verdict)
        })
    };
    let found = |tag: &str, version: &str, verdict| Some((tag.into(), version.into(), verdict));
    #[rustfmt::skip]
    let rows = [
        (rule(), "4.2.0", found("4.4.0", "4.4.0", ReleaseVerdict::Taken)),
        (preview, "4.2.0", found("v4.5.0-rc.1", "4.5.0-rc.1", ReleaseVerdict::Taken)),
        (pinned, "4.2.0", found("4.3.0", "4.3.0", ReleaseVerdict::Taken)),
        // None is installed: the reason for the newest candidate is reported.
        (no_clock, "4.2.0", found("4.4.0", "4.4.0", ReleaseVerdict::Share)),
        (rule(), "4.4.0", found("v4.5.0-rc.1", "4.5.0-rc.1", ReleaseVerdict::Channel)),
        (rule(), "4.6.0", found("v4.5.0-rc.1", "4.5.0-rc.1", ReleaseVerdict::NotNewer)),
    ];
    for (rule, running, expected) in rows {
        assert_eq!(chosen(&rule, &tags, running), expected, "{rule:?}");
    }
    assert_eq!(chosen(&rule(), &["latest"], "4.2.0"), None);
    assert_eq!(chosen(&rule(), &[], "4.2.0"), None);
}

#[test]
fn an_excluded_release_hides_no_other() {
    let excluded = [
        (version("4.4.0+build"), ReleaseVerdict::Failed),
        (version("4.3.9"), ReleaseVerdict::Left),
    ];
    let of = |releases: &[ListedRelease], excluded: &[(Version, ReleaseVerdict)]| {
        let here = Here {
            running: &version("4.2.0"),
            image: IMAGE,
            excluded,
        };
        choose(releases, &rule(), &here).map(|(_, seen)| (seen.version, seen.verdict))
    };
    let chosen = |version: &str, verdict| Some((version.to_owned(), verdict));
    let all = list(&["4.4.0", "4.3.9", "4.3.0"]);
    assert_eq!(of(&all, &excluded), chosen("4.3.0", ReleaseVerdict::Taken));
    assert_eq!(
        of(&all[..2], &excluded),
        chosen("4.4.0", ReleaseVerdict::Failed)
    );
    assert_eq!(
        of(&all[1..2], &excluded),
        chosen("4.3.9", ReleaseVerdict::Left)
    );
    assert_eq!(of(&all, &[]), chosen("4.4.0", ReleaseVerdict::Taken));
    // A release for other clocks, and a preview.
    for (change, expected) in [
        (
            (|release| release.assets.truncate(1)) as fn(&mut ListedRelease),
            ReleaseVerdict::NoImage,
        ),
        (|release| release.assets.clear(), ReleaseVerdict::NoImage),
        (
            |release| release.is_prerelease = true,
            ReleaseVerdict::Channel,
        ),
    ] {
        let mut all = all.clone();
        change(&mut all[0]);
        assert_eq!(of(&all[..1], &[]), chosen("4.4.0", expected));
        assert_eq!(of(&all, &[]), chosen("4.3.9", ReleaseVerdict::Taken));
    }
    let preview = serde_json::json!([{"tag_name": "4.4.0", "prerelease": true, "assets": []}]);
    let read = release::feed(preview.to_string().as_bytes()).unwrap();
    assert!(read[0].is_prerelease);
}
