//! Recording of the lights, frame by frame.

use std::time::Duration;

use device::{lights::Rgb, output::Desired};

/// Frames of the strip and of the frontlight, each with its start.
pub(crate) struct Recording {
    begin: Duration,
    strip: Vec<(Duration, Vec<Rgb>)>,
    frontlight: Vec<(Duration, Vec<u16>)>,
}

impl Recording {
    /// A recording that starts with the current state.
    pub(crate) fn start(desired: &Desired, uptime: Duration) -> Recording {
        Recording {
            begin: uptime,
            strip: vec![(uptime, desired.strip.clone())],
            frontlight: vec![(uptime, desired.frontlight.clone())],
        }
    }

    /// Records a frame if anything has changed.
    pub(crate) fn record(&mut self, desired: &Desired, uptime: Duration) {
        add(&mut self.strip, &desired.strip, uptime);
        add(&mut self.frontlight, &desired.frontlight, uptime);
    }

    /// Frames of the strip, each one colour or one per LED, with its duration, ms; the last one stays.
    pub(crate) fn strip(&self) -> Vec<String> {
        let ends = self.strip.iter().skip(1).map(|(began, _)| Some(*began));
        let frames = self.strip.iter().zip(ends.chain([None]));
        let text = |((began, pixels), end): (&(Duration, Vec<Rgb>), Option<Duration>)| {
            let hex = |pixel: &Rgb| pixel.hex().trim_start_matches('#').to_string();
            let colors = shortened(&pixels.iter().map(hex).collect::<Vec<_>>());
            match end {
                Some(end) => format!("{colors} {}", (end - *began).as_millis()),
                None => colors,
            }
        };
        frames.map(text).collect()
    }

    /// The duties at a time after the start, ms: one, or one per panel.
    pub(crate) fn frontlight(&self, ms: u64) -> String {
        let at = self.begin + Duration::from_millis(ms);
        let frame = self.frontlight.iter().rfind(|(began, _)| *began <= at);
        shortened(
            &frame
                .unwrap()
                .1
                .iter()
                .map(u16::to_string)
                .collect::<Vec<_>>(),
        )
    }

    /// Whether the frontlight changed.
    pub(crate) fn frontlight_changed(&self) -> bool {
        self.frontlight.len() > 1
    }
}

fn add<T: Clone + PartialEq>(frames: &mut Vec<(Duration, T)>, frame: &T, uptime: Duration) {
    // A frame without duration was never visible.
    frames.pop_if(|(began, _)| *began == uptime);
    if frames.last().is_none_or(|(_, last)| last != frame) {
        frames.push((uptime, frame.clone()));
    }
}

/// A single value if all are equal.
fn shortened(parts: &[String]) -> String {
    if parts.iter().all(|part| *part == parts[0]) {
        parts[0].clone()
    } else {
        parts.join("/")
    }
}
