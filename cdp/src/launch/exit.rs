//! How a browser process ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How the browser process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It is gone, but somebody else in this process collected its status.
    Unknown,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(9) => {
                f.write_str("killed by SIGKILL; the kernel does that too when memory runs out")
            }
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::Unknown => f.write_str("exit status unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how() {
        assert_eq!(Exit::from(ExitStatus::from_raw(3 << 8)).to_string(), "exit status 3");
        assert_eq!(Exit::from(ExitStatus::from_raw(9)), Exit::Signal(9));
        assert_eq!(Exit::from(ExitStatus::from_raw(11)).to_string(), "killed by signal 11");
    }
}
