//! The `DevToolsActivePort` file: a running browser writes its port and path into its profile.

use std::io;
use std::path::{Path, PathBuf};

use tokio::io::AsyncReadExt;

use super::error::{DiscoveryError, Phase};
use crate::budget::Budget;

/// The name of the file in a profile folder (the user data dir, not one of its profiles).
pub const PORT_FILE: &str = "DevToolsActivePort";

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) port: u16,
    pub(super) path: String,
}

/// The file has some 60 bytes; what is longer is something else.
const LONGEST: u64 = 1024;

/// Reads the file at `given`, or in the folder `given`.
pub(super) async fn read(given: &Path, slice: &Budget) -> Result<Listed, DiscoveryError> {
    let read = async {
        let path = locate(given).await?;
        let mut text = Vec::new();
        tokio::fs::File::open(&path).await?.take(LONGEST + 1).read_to_end(&mut text).await?;
        Ok::<_, io::Error>(text)
    };
    let text = slice
        .run(read)
        .await
        .map_err(|spent| DiscoveryError::spent(given.display().to_string(), Phase::PortFile, spent))?;
    let bad = |why: String| DiscoveryError::PortFile { path: given.to_owned(), why };
    match text {
        Ok(text) => parse(&text).map_err(|why| bad(why.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "it lies in the user data dir of a browser that runs with --remote-debugging-port";
            Err(bad(format!("there is no {PORT_FILE} file; {hint}")))
        }
        Err(error) => Err(bad(format!("cannot be read: {error}"))),
    }
}

async fn locate(given: &Path) -> io::Result<PathBuf> {
    let path = match tokio::fs::metadata(given).await? {
        kind if kind.is_dir() => given.join(PORT_FILE),
        _ => given.to_owned(),
    };
    // Opening a pipe or a device might never return.
    if tokio::fs::metadata(&path).await?.is_file() {
        Ok(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Line 1 is the port, line 2 the path, and nothing else. A file that is only half written must
/// not pass for a whole one.
fn parse(text: &[u8]) -> Result<Listed, &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "it is not text")?;
    let (port, rest) = text.split_once('\n').ok_or("it has one line only: the port, then the path")?;
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|port| digits && *port > 0);
    let port: u16 = port.ok_or("its first line is not a port")?;
    let path = rest.strip_suffix('\n').unwrap_or(rest);
    let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte));
    let id = path.strip_prefix("/devtools/browser/").filter(|id| plain && !id.is_empty());
    id.ok_or("its second line is not a path /devtools/browser/<id>")?;
    Ok(Listed { port, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_writes_is_read() {
        for text in ["9222\n/devtools/browser/3813c634-4ba1", "9222\n/devtools/browser/3813c634-4ba1\n"] {
            let listed = parse(text.as_bytes()).unwrap();
            assert_eq!((listed.port, listed.path.as_str()), (9222, "/devtools/browser/3813c634-4ba1"));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "9222",
            "9222\n",
            "0\n/devtools/browser/x",
            "65536\n/devtools/browser/x",
            "+9\n/devtools/browser/x",
            " 9222\n/devtools/browser/x",
            "9222\r\n/devtools/browser/x",
            "9222\n/devtools/browser/",
            "9222\n/x",
            "9222\n/devtools/browser/x\n\n",
            "9222\n/devtools/browser/x\nmore",
            "9222\n/devtools/browser/x y",
            "9222\n/devtools/browser/x?y",
            "9222\nws://h/devtools/browser/x",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(parse(b"\xff\xfe\n").is_err());
    }
}
