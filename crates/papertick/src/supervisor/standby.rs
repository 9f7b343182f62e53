//! How a device is started again without a pause: the next one is prepared beside it, and goes on where it ends.
//!
//! | State | The device | Its standby | Ends with |
//! |---|---|---|---|
//! | running | serves | there is none | the word `restart` |
//! | preparing | serves, but erases nothing | prepares, and holds nothing that only one may hold | the word `standby` |
//! | giving way | serves on, lets go of everything, ends | waits for the data folder | the end of the device |
//! | taken over | is gone | is the device | |
//!
//! A standby that ends or is not prepared in time leaves the device to end first, as one that is started again always
//! did. Once the device gives way, its standby is judged as any device that was just started.
//! A device that breaks off on the way, and one after which another program is to be started than the one that stands by,
//! is followed by a plain start.
//! What waits for connections is one socket, which is open all the time.

use std::io;

use runtime::patience::Patience;
use tokio::time::timeout;

use super::{End, Followed, StopSignals, Supervisor, process::Process, programs::Chosen};
use crate::{
    config::Begin,
    lifeline::{GIVE_WAY, Word},
    standard_error::say,
};

/// What came of preparing a standby.
enum Prepared {
    /// It waits for the device to end.
    Waits,
    /// There is none, for this reason in words for people.
    Not(String),
    /// The device ended meanwhile.
    TooLate(End),
}

impl Supervisor {
    /// Starts a device again that wants to be: gives how it ended, and leaves the one that goes on to be followed.
    pub(super) async fn relieve(&mut self, followed: &mut Followed, stop: &mut StopSignals) -> End {
        // What there was to say was said to the device that ends.
        (self.next.note, self.next.carried, self.next.safe_mode) = (None, None, None);
        self.programs.forgive();
        let (mut standby, chosen) = match self.start_standby() {
            Ok(started) => started,
            Err(reason) => {
                say(&format!(
                    "the device is started again without a standby: {reason}"
                ));
                return self.let_end(followed, None, stop).await;
            }
        };
        match self.prepared(followed, &mut standby, stop).await {
            Prepared::Waits => {}
            Prepared::Not(reason) => {
                standby.child.kill().await;
                say(&format!(
                    "the device is started again without its standby: {reason}"
                ));
                return self.let_end(followed, None, stop).await;
            }
            // It has the data folder already.
            Prepared::TooLate(End::Restart) => {}
            Prepared::TooLate(end) => {
                standby.child.kill().await;
                return end;
            }
        }
        match self.let_end(followed, Some(&mut standby), stop).await {
            End::Restart => {}
            end @ (End::Stopped
            | End::PowerCut(_)
            | End::Refused(_)
            | End::Broken(_)
            | End::Killed(_)
            | End::SafeLongEnough
            | End::NotStarted(_)
            | End::NotPassed(_)) => {
                standby.child.kill().await;
                return end;
            }
        }
        // Whoever sent an update that was ready only now was told that it is started.
        if !self.programs.is_next(&chosen) {
            standby.child.kill().await;
            say("another program is to be started than the one that stood by");
            return End::Restart;
        }
        if let (true, Some(slot)) = (chosen.is_trial, chosen.program.slot()) {
            self.programs.started(slot);
        }
        self.relief = Some((standby, chosen));
        End::Restart
    }

    fn start_standby(&mut self) -> Result<(Process, Chosen), String> {
        let chosen = self.programs.choose();
        if !chosen.is_trial && self.is_to_hand_over(&chosen) {
            return Err(format!(
                "the supervisor of version {} goes first",
                chosen.version
            ));
        }
        self.next.firmware = Some(self.programs.told(&chosen));
        self.next.begin = Begin::AsStandby;
        let started = self.start(&chosen);
        self.next.begin = Begin::AtOnce;
        let words = |error: io::Error| format!("it cannot be started: {error}");
        Ok((started.map_err(words)?, chosen))
    }

    /// Follows both until the standby is prepared, or will not be.
    async fn prepared(
        &mut self,
        followed: &mut Followed,
        standby: &mut Process,
        stop: &mut StopSignals,
    ) -> Prepared {
        let mut limit = Patience::of(self.limits.standby);
        loop {
            let process = &mut followed.process;
            tokio::select! {
                biased;
                () = stop.given() => {
                    standby.child.kill().await;
                    return Prepared::TooLate(self.stopped(process).await);
                }
                status = process.child.wait() => {
                    return Prepared::TooLate(self.judge_last_words(status, followed).await);
                }
                word = process.words.next() => self.hear(word, followed),
                word = standby.words.next() => if word == Word::Standby {
                    return Prepared::Waits;
                },
                status = standby.child.wait() => {
                    let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                    return Prepared::Not(format!("it ended ({how})"));
                }
                () = limit.ended() => return Prepared::Not("it was not prepared in time".to_string()),
            }
        }
    }

    /// Lets the device end, or ends it if it does not.
    async fn let_end(
        &mut self,
        followed: &mut Followed,
        standby: Option<&mut Process>,
        stop: &mut StopSignals,
    ) -> End {
        followed.process.child.signal(GIVE_WAY);
        let limit = self.stop_limit();
        let process = &mut followed.process;
        let ended = tokio::select! {
            () = stop.given() => {
                // Else it would be a device once the other has ended.
                if let Some(standby) = standby {
                    standby.child.kill().await;
                }
                return self.stopped(process).await;
            }
            ended = timeout(limit, process.child.wait()) => ended,
        };
        match ended {
            Ok(status) => self.judge_last_words(status, followed).await,
            Err(_) => {
                say("the device did not give way in time and was killed");
                process.child.kill().await;
                End::Restart
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::{fs, future::pending, path::Path, time::Duration};

    use storage::disk::Folder;
    use tokio::time::sleep;

    use super::*;
    use crate::{
        supervisor::{
            Limits,
            tests::{install, running, starts, supervisor},
        },
        updates::{
            record,
            slots::{ImageSlot, Program, Standing},
        },
    };

    /// A device that is to be started again at once, and what its standby does; `free` is there when it has ended.
    fn script(folder: &Path, gives_way: &str, standby: &str) -> String {
        script_after(folder, 1, gives_way, standby)
    }

    /// The same, after so many starts.
    fn script_after(folder: &Path, starts: usize, gives_way: &str, standby: &str) -> String {
        let free = folder.join("free");
        let free = free.display();
        format!(
            "free() {{ while ! test -e {free}; do sleep 0.01; done; }}\n\
             case \"$2\" in *AsStandby*) {standby};; esac\n\
             test $(wc -l < {noted}) -gt {starts} && {{ echo ready; exec sleep 1000; }}\n\
             trap 'touch {free}; {gives_way}' USR1\n\
             echo ready; echo restart\n\
             while :; do sleep 0.01; done",
            noted = folder.join("starts").display(),
        )
    }

    /// The starts of such a device, as words: whether each is a standby, how many crashes there were, and why.
    async fn told(gives_way: &str, standby: &str, count: usize) -> Vec<(Begin, u64, String)> {
        told_within(|_| {}, gives_way, standby, count).await
    }

    /// The same, within other limits.
    async fn told_within(
        limits: impl FnOnce(&mut Limits),
        gives_way: &str,
        standby: &str,
        count: usize,
    ) -> Vec<(Begin, u64, String)> {
        let folder = tempfile::tempdir().unwrap();
        let script = script(folder.path(), gives_way, standby);
        let mut supervisor = supervisor(folder.path(), &script);
        limits(&mut supervisor.limits);
        let starts = starts(folder.path(), supervisor, count).await;
        let starts = starts.into_iter();
        starts
            .map(|start| (start.begin, start.crashes, start.note.unwrap_or_default()))
            .collect()
    }

    #[tokio::test]
    async fn a_standby_goes_on_where_the_device_ends() {
        // It works, and then it breaks off, which is counted as ever.
        let standby = "echo standby; free; echo ready; echo beat; exit 70";
        let told = told("exit 75", standby, 3).await;
        assert_eq!(told[0], (Begin::AtOnce, 0, String::new()));
        assert_eq!(told[1], (Begin::AsStandby, 0, String::new()));
        let (begin, crashes, note) = &told[2];
        assert_eq!((*begin, *crashes), (Begin::AtOnce, 1));
        assert!(note.contains("70"), "{note}");
    }

    #[tokio::test]
    async fn what_was_said_of_a_crash_is_not_said_after_a_restart_that_was_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let starts = folder.path().join("starts");
        // The first breaks off, the second wants to be started again.
        let script = format!(
            "test $(wc -l < {starts}) = 1 && {{ echo ready; exit 70; }}\n{}",
            script_after(
                folder.path(),
                2,
                "exit 75",
                "echo standby; free; echo ready"
            ),
            starts = starts.display(),
        );
        let starts = self::starts(folder.path(), supervisor(folder.path(), &script), 3).await;
        let notes: Vec<bool> = starts.iter().map(|start| start.note.is_some()).collect();
        assert_eq!(starts[2].begin, Begin::AsStandby);
        assert_eq!(notes, [false, true, false]);
        assert_eq!(starts[2].crashes, 1, "it is counted all the same");
    }

    #[tokio::test]
    async fn a_standby_that_does_not_get_ready_leaves_a_plain_restart() {
        for standby in [
            // One that breaks off, one that refuses, one that hangs.
            "kill -KILL $$",
            "exit 1",
            "exec sleep 1000",
        ] {
            let soon = |limits: &mut Limits| limits.standby = Duration::from_millis(300);
            let told = told_within(soon, "exit 75", standby, 3).await;
            let plain = (Begin::AtOnce, 0, String::new());
            assert_eq!(told[1].0, Begin::AsStandby, "{standby}");
            assert_eq!(told[2], plain, "{standby}: nothing broke off");
        }
    }

    #[tokio::test]
    async fn a_device_that_does_not_give_way_is_ended() {
        let standby = "echo standby; free; echo ready; exit 75";
        let soon = |limits: &mut Limits| limits.stop = Duration::from_millis(200);
        let told = told_within(soon, "exec sleep 1000", standby, 3).await;
        assert_eq!(told[2], (Begin::AtOnce, 0, String::new()));
    }

    #[tokio::test]
    async fn a_device_that_breaks_off_as_it_gives_way_is_counted() {
        let standby = "echo standby; free; echo ready; exit 75";
        let told = told("kill -KILL $$", standby, 3).await;
        let (begin, crashes, note) = &told[2];
        assert_eq!((*begin, *crashes), (Begin::AtOnce, 1));
        assert!(note.contains("signal: 9"), "{note}");
    }

    #[tokio::test]
    async fn a_device_that_breaks_off_before_its_standby_is_prepared_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        // The standby is prepared only once the other's end was noticed, however busy the machine is.
        let script = format!(
            "starts() {{ wc -l < {starts}; }}\n\
             case \"$2\" in *AsStandby*)\n\
               while kill -0 $(cat {pid}) 2>/dev/null; do sleep 0.01; done\n\
               echo standby; echo ready; exit 75;;\n\
             esac\n\
             echo $$ > {pid}; echo ready; test $(starts) -gt 1 && exec sleep 1000\n\
             echo restart; until test $(starts) -gt 1; do sleep 0.01; done; kill -KILL $$",
            starts = at("starts"),
            pid = at("pid"),
        );
        let told = starts(folder.path(), supervisor(folder.path(), &script), 3).await;
        assert_eq!(told[1].begin, Begin::AsStandby);
        assert_eq!((told[2].begin, told[2].crashes), (Begin::AtOnce, 1));
        let note = told[2].note.clone().unwrap();
        assert!(note.contains("signal: 9"), "{note}");
    }

    #[tokio::test]
    async fn an_update_that_is_ready_only_as_the_device_gives_way_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let later = tempfile::tempdir().unwrap();
        let gives_way = format!(
            "cp {}/firmware.json {}; exit 75",
            later.path().display(),
            folder.path().display()
        );
        // The standby is of the program before it: it does not go on.
        let standby = "echo standby; free; echo ready; exit 70";
        let script = script(folder.path(), &gives_way, standby);
        let supervisor = supervisor(folder.path(), &script);
        install(folder.path(), later.path(), Standing::Proven);
        let starts = starts(folder.path(), supervisor, 3).await;
        assert_eq!(running(&starts[1]), Program::Factory);
        assert_eq!(running(&starts[2]), Program::Slot(ImageSlot::A));
        assert_eq!((starts[2].begin, starts[2].crashes), (Begin::AtOnce, 0));
    }

    #[tokio::test]
    async fn a_program_on_trial_that_breaks_off_as_it_gives_way_has_failed() {
        let folder = tempfile::tempdir().unwrap();
        let standby = "echo standby; free; echo ready; exit 75";
        let script = script(folder.path(), "exit 70", standby);
        let supervisor = supervisor(folder.path(), &script);
        install(folder.path(), folder.path(), Standing::Trial { starts: 0 });
        let starts = starts(folder.path(), supervisor, 3).await;
        let own = Program::Slot(ImageSlot::A);
        assert_eq!((running(&starts[0]), running(&starts[1])), (own, own));
        assert_eq!(running(&starts[2]), Program::Factory);
        let slots = record::look(&mut Folder::new(folder.path()));
        assert_eq!(slots.get(ImageSlot::A).unwrap().standing, Standing::Failed);
    }

    #[tokio::test]
    async fn a_program_that_has_passed_may_break_off_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let passed = folder.path().join("passed");
        let script = format!(
            "echo ready; until test -e {}; do sleep 0.01; done; exit 70",
            passed.display()
        );
        let supervisor = supervisor(folder.path(), &script);
        install(folder.path(), folder.path(), Standing::Trial { starts: 0 });
        let passing = async {
            while !folder.path().join("starts").exists() {
                sleep(Duration::from_millis(5)).await;
            }
            record::change(&mut Folder::new(folder.path()), |slots| {
                slots.passed(ImageSlot::A);
            })
            .unwrap();
            fs::write(&passed, "").unwrap();
            pending::<()>().await;
        };
        let starts = tokio::select! {
            starts = starts(folder.path(), supervisor, 2) => starts,
            () = passing => panic!("it waits"),
        };
        let own = Program::Slot(ImageSlot::A);
        assert_eq!((running(&starts[0]), running(&starts[1])), (own, own));
        assert_eq!((starts[0].crashes, starts[1].crashes), (0, 1));
    }

    #[tokio::test]
    async fn an_update_that_breaks_off_now_and_then_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut supervisor = supervisor(folder.path(), "echo ready; sleep 0.2; exit 70");
        supervisor.limits.steady = Duration::from_millis(200);
        install(folder.path(), folder.path(), Standing::Proven);
        let starts = starts(folder.path(), supervisor, 5).await;
        let own = Program::Slot(ImageSlot::A);
        assert!(starts.iter().all(|start| running(start) == own));
        assert_eq!(starts[4].crashes, 4, "all are counted");
    }

    #[tokio::test]
    async fn a_standby_is_ended_before_its_device_where_the_clock_stops() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        let script = format!(
            "case \"$2\" in *AsStandby*) echo $$ > {place}/standby; echo standby; exec sleep 1000;; esac\n\
             trap '' USR1\n\
             trap 'kill -0 $(cat {place}/standby) && touch {place}/both; exit 0' TERM\n\
             echo ready; while :; do sleep 0.01; done"
        );
        let mut supervisor = supervisor(folder.path(), &script);
        let chosen = supervisor.programs.choose();
        let mut followed = Followed {
            process: supervisor.start(&chosen).unwrap(),
            chosen,
            cut: None,
            trial: None,
        };
        assert_eq!(followed.process.words.next().await, Word::Ready);
        let (mut standby, _) = supervisor.start_standby().unwrap();
        assert_eq!(standby.words.next().await, Word::Standby);
        let mut stop = StopSignals::new().unwrap();
        stop.is_given = true;
        let standby = Some(&mut standby);
        let end = supervisor.let_end(&mut followed, standby, &mut stop).await;
        assert!(matches!(end, End::Stopped));
        assert!(!folder.path().join("both").exists());
    }

    #[tokio::test]
    async fn a_standby_that_ends_while_the_device_gives_way_is_counted() {
        let told = told("sleep 0.1; exit 75", "echo standby; exit 70", 3).await;
        let (begin, crashes, note) = &told[2];
        assert_eq!((*begin, *crashes), (Begin::AtOnce, 1));
        assert!(note.contains("70"), "{note}");
    }

    #[tokio::test]
    async fn a_device_that_ends_before_its_standby_is_prepared_is_followed_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "starts() {{ wc -l < {}; }}\n\
             case \"$2\" in *AsStandby*) sleep 0.1; echo standby; echo ready; exit 70;; esac\n\
             echo ready; test $(starts) -gt 1 && exec sleep 1000\n\
             echo restart; until test $(starts) -gt 1; do sleep 0.01; done; exit 75",
            folder.path().join("starts").display()
        );
        let told = starts(folder.path(), supervisor(folder.path(), &script), 3).await;
        assert_eq!(told[1].begin, Begin::AsStandby);
        assert_eq!(told[2].crashes, 1, "only the standby broke off");
    }

    #[tokio::test]
    async fn a_power_cut_is_not_forgotten_over_a_standby() {
        let folder = tempfile::tempdir().unwrap();
        let text = script(
            folder.path(),
            "echo power-cut 1 3200; exit 75",
            "echo standby; exec sleep 1000",
        );
        let starts = starts(folder.path(), supervisor(folder.path(), &text), 3).await;
        assert_eq!(starts[1].begin, Begin::AsStandby);
        assert_eq!(starts[2].carried.as_deref(), Some("1 3200"));
        assert_eq!(starts[2].begin, Begin::AtOnce);
    }
}
