//! Why the program ends without having done what it was asked for: one line for people, one number for programs.

use storage::lock::FolderError;
use supervisor::messages::REFUSED_CODE;

/// Why the program ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Exit code.
    pub code: Code,
    /// One line that names the thing and says what to do.
    pub message: String,
}

/// Exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It did not work.
    Failed = REFUSED_CODE as isize,
    /// The command line, the environment or the configuration file says what cannot be.
    Usage = 2,
    /// The clock does not answer.
    Unreachable = 3,
    /// The clock wants other credentials.
    Unauthorised = 4,
    /// It was refused.
    Refused = 5,
}

impl Code {
    /// All that a command can end with, and what it means; 0 is that all went well.
    pub const TABLE: [(u8, &str); 6] = [
        (0, "done"),
        (Code::Failed as u8, "it did not work"),
        (Code::Usage as u8, "the command line says what cannot be"),
        (Code::Unreachable as u8, "no clock answers"),
        (
            Code::Unauthorised as u8,
            "the clock wants other credentials",
        ),
        (
            Code::Refused as u8,
            "it was refused, or something is in use",
        ),
    ];
}

impl Failure {
    /// It did not work.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Failed,
            message: message.into(),
        }
    }

    /// The command line, the environment or the configuration file says what cannot be.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Usage,
            message: message.into(),
        }
    }

    /// The clock does not answer.
    pub fn unreachable(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Unreachable,
            message: message.into(),
        }
    }

    /// The clock wants other credentials.
    pub fn unauthorised(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Unauthorised,
            message: message.into(),
        }
    }

    /// It was refused.
    pub fn refused(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Refused,
            message: message.into(),
        }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Failure {
        let code = match error {
            FolderError::Taken { .. } => Code::Refused,
            FolderError::Unusable { .. } => Code::Failed,
        };
        Failure {
            code,
            message: error.to_string(),
        }
    }
}
