//! The state of a program in a slot, and versions that are not installed automatically.

use feeds::release::is_newer;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::Factory;

/// Most starts of a program on trial without a result, for example because of power cuts.
pub const TRIAL_STARTS_MAX: u64 = 3;

/// Most executions of a program in place of the installed one without progress of its device.
pub const EXECUTIONS_MAX: u64 = 3;

/// A program in a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub version: Version,
    /// Length of its file, bytes.
    pub bytes: u64,
    /// SHA-256 of its file.
    #[serde(rename = "sha256", with = "hex::serde")]
    pub digest: [u8; 32],
    /// Build of the installed program when this program was put into the slot.
    #[serde(rename = "beside")]
    pub factory_build: String,
    #[serde(flatten)]
    pub trial_state: TrialState,
    /// Executions in place of the installed program without progress of its device.
    #[serde(default)]
    pub executions: u64,
}

/// Whether a program has passed its trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "lowercase")]
pub enum TrialState {
    Trial {
        /// Starts without a result.
        starts: u64,
    },
    /// The program works.
    Proven,
    /// The program does not work.
    Failed,
}

impl Installed {
    /// Whether the slot takes precedence over the installed program: it is newer, or it was installed next to the same
    /// build. So an upgraded package replaces an older slot, but an owner can install an older version.
    fn is_current(&self, factory: &Factory) -> bool {
        is_newer(&self.version, &factory.version) || self.factory_build == factory.build
    }

    pub(super) fn may_run(&self, factory: &Factory) -> bool {
        let works = match self.trial_state {
            TrialState::Trial { starts } => starts < TRIAL_STARTS_MAX,
            TrialState::Proven => true,
            TrialState::Failed => false,
        };
        works && self.is_current(factory)
    }
}

/// A version that is not installed automatically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedVersion {
    pub version: Version,
    /// The reason.
    pub why: SkipReason,
}

/// Why a version is not installed automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkipReason {
    /// The version failed here.
    Failed,
    /// The owner has replaced the version by an older one.
    Left,
}
