//! `DevToolsActivePort`: where Chromium says on which port it listens.

use std::path::Path;

use url::Url;

/// The file, directly in the profile.
const FILE: &str = "DevToolsActivePort";

/// Removes what an earlier browser left, so that what appears is this one's.
pub(super) fn forget(profile: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(profile.join(FILE)) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// The browser's address, once it is written.
pub(super) fn read(profile: &Path) -> Option<Url> {
    parse(&std::fs::read_to_string(profile.join(FILE)).ok()?)
}

/// Two lines: the port, and the path with the id of this very browser. Whoever else may listen on
/// that port later does not know the id. A file that is only half written gives nothing yet.
fn parse(text: &str) -> Option<Url> {
    let (port, path) = text.split_once('\n')?;
    let port: u16 = port.trim().parse().ok().filter(|port| *port != 0)?;
    let path = path.lines().next()?.trim();
    let id = path.strip_prefix("/devtools/browser/")?;
    let hyphens = [8, 13, 18, 23];
    let whole = id.len() == 36
        && id
            .bytes()
            .enumerate()
            .all(|(at, byte)| if hyphens.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() });
    if whole { Url::parse(&format!("ws://127.0.0.1:{port}{path}")).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "45931\n/devtools/browser/4ffa0e8a-77a2-4c0d-9c30-0d1bd5f1a5f4";

    #[test]
    fn a_whole_file_gives_the_address() {
        let address = "ws://127.0.0.1:45931/devtools/browser/4ffa0e8a-77a2-4c0d-9c30-0d1bd5f1a5f4";
        assert_eq!(parse(TEXT).unwrap().as_str(), address);
        assert_eq!(parse(&format!("{TEXT}\n")).unwrap().as_str(), address);
    }

    #[test]
    fn a_torn_or_foreign_file_gives_nothing() {
        for cut in 0..TEXT.len() {
            assert_eq!(parse(&TEXT[..cut]), None, "{cut}");
        }
        for text in ["0\n/devtools/browser/4ffa0e8a-77a2-4c0d-9c30-0d1bd5f1a5f4", "1\n/json/version", "x\ny"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
