//! What the lights did, frame by frame.

use std::time::Duration;

use device::{lights::Rgb, output::Desired};

/// The frames of the strip and of the frontlight, each with the moment at which it began.
pub(crate) struct Film {
    begin: Duration,
    strip: Vec<(Duration, Vec<Rgb>)>,
    frontlight: Vec<(Duration, Vec<u16>)>,
}

impl Film {
    /// A film that begins with what is there.
    pub(crate) fn begin(desired: &Desired, uptime: Duration) -> Film {
        Film {
            begin: uptime,
            strip: vec![(uptime, desired.strip.clone())],
            frontlight: vec![(uptime, desired.frontlight.clone())],
        }
    }

    /// Takes another frame, if anything has changed.
    pub(crate) fn look(&mut self, desired: &Desired, uptime: Duration) {
        add(&mut self.strip, &desired.strip, uptime);
        add(&mut self.frontlight, &desired.frontlight, uptime);
    }

    /// The frames of the strip, each a colour, or one per LED, and for how long it showed, ms; the last one stays.
    pub(crate) fn strip(&self) -> Vec<String> {
        let ends = self.strip.iter().skip(1).map(|(began, _)| Some(*began));
        let frames = self.strip.iter().zip(ends.chain([None]));
        let text = |((began, pixels), end): (&(Duration, Vec<Rgb>), Option<Duration>)| {
            let hex = |pixel: &Rgb| pixel.hex().trim_start_matches('#').to_string();
            let colors = in_short(&pixels.iter().map(hex).collect::<Vec<_>>());
            match end {
                Some(end) => format!("{colors} {}", (end - *began).as_millis()),
                None => colors,
            }
        };
        frames.map(text).collect()
    }

    /// The duties at a moment after the beginning, ms: one, or one per panel.
    pub(crate) fn frontlight(&self, ms: u64) -> String {
        let at = self.begin + Duration::from_millis(ms);
        let frame = self.frontlight.iter().rfind(|(began, _)| *began <= at);
        in_short(
            &frame
                .unwrap()
                .1
                .iter()
                .map(u16::to_string)
                .collect::<Vec<_>>(),
        )
    }

    /// The frontlight changed.
    pub(crate) fn frontlight_moved(&self) -> bool {
        self.frontlight.len() > 1
    }
}

fn add<T: Clone + PartialEq>(frames: &mut Vec<(Duration, T)>, frame: &T, uptime: Duration) {
    // What was there for no time was never seen.
    frames.pop_if(|(began, _)| *began == uptime);
    if frames.last().is_none_or(|(_, last)| last != frame) {
        frames.push((uptime, frame.clone()));
    }
}

/// One for all where they are equal.
fn in_short(parts: &[String]) -> String {
    match parts.iter().all(|part| *part == parts[0]) {
        true => parts[0].clone(),
        false => parts.join("/"),
    }
}
