//! Failures of commands: a message for people and an exit code for programs.

use storage::lock::FolderError;
use supervisor::messages::REFUSED_CODE;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: Code,
    /// One line: what is wrong, and what to do.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    Failed = REFUSED_CODE as isize,
    /// The command line, the environment or the configuration file has a mistake.
    Usage = 2,
    /// The clock does not answer.
    Unreachable = 3,
    /// The clock requires other credentials.
    Unauthorised = 4,
    /// The request was refused.
    Refused = 5,
}

impl Code {
    /// All exit codes and their meanings.
    pub const TABLE: [(u8, &str); 6] = [
        (0, "success"),
        (Code::Failed as u8, "failure"),
        (
            Code::Usage as u8,
            "the command line, the environment or the configuration file has a mistake",
        ),
        (Code::Unreachable as u8, "no clock answers"),
        (
            Code::Unauthorised as u8,
            "the clock requires other credentials",
        ),
        (
            Code::Refused as u8,
            "the request was refused, or something is in use",
        ),
    ];
}

impl Failure {
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Failed,
            message: message.into(),
        }
    }

    /// The command line, the environment or the configuration file has a mistake.
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

    /// The clock requires other credentials.
    pub fn unauthorised(message: impl Into<String>) -> Failure {
        Failure {
            code: Code::Unauthorised,
            message: message.into(),
        }
    }

    /// The request was refused.
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
