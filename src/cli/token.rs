//! The secret between a service and its callers: given, or made once and kept in the state folder,
//! readable by its owner only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tabvisor::config::{Config, Secret};
use url::{Host, Url};

use super::failure::Failure;

/// Name of the file in the state folder.
const FILE: &str = "token";
/// Random bytes in a token that is made here.
const BYTES: usize = 32;
/// Longest file that can be one.
const LONGEST: u64 = 4096;

/// The secret of a service, and the file that has it, if one does.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) file: Option<PathBuf>,
}

/// The secret that a service asks its callers for; `None` where it asks for none.
pub(super) fn for_service(config: &Config) -> Result<Option<Token>, Failure> {
    let server = &config.server;
    if server.no_auth {
        return Ok(None);
    }
    if let Some(file) = &server.token_file {
        let secret = read(file).map_err(|why| Failure::usage(format!("server.token_file: {why}")))?;
        return Ok(Some(Token { secret, file: Some(absolute(file)) }));
    }
    if let Some(secret) = &server.token {
        return Ok(Some(Token { secret: secret.clone(), file: None }));
    }
    let file = config.state_folder()?.join(FILE);
    let secret = kept(&file).map_err(Failure::failed)?;
    Ok(Some(Token { secret, file: Some(absolute(&file)) }))
}

/// The secret with which a client calls `url`. What is kept in the state folder goes to this
/// machine only.
pub(super) fn for_client(config: &Config, url: &Url) -> Result<Option<Secret>, Failure> {
    let server = &config.server;
    if let Some(secret) = &server.token {
        return Ok(Some(secret.clone()));
    }
    if let Some(file) = &server.token_file {
        let secret = read(file).map_err(|why| Failure::usage(format!("server.token_file: {why}")))?;
        return Ok(Some(secret));
    }
    if !is_loopback(url) || config.state_dir.as_os_str().is_empty() {
        return Ok(None);
    }
    // No file, no token: a service without authentication needs none.
    Ok(read(&config.state_dir.join(FILE)).ok())
}

/// Whether an address names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        None => false,
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn read(path: &Path) -> Result<Secret, String> {
    let bad = |why: &str| format!("{}: {why}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(|why| bad(&why.to_string()))?;
    file.take(LONGEST).read_to_string(&mut text).map_err(|why| bad(&why.to_string()))?;
    let secret = Secret::from(text.trim());
    secret.check().map_err(|why| bad(&format!("the token {why}")))?;
    Ok(secret)
}

/// Reads the token at `path`, or makes one there. Two services that start at once get the same.
fn kept(path: &Path) -> Result<Secret, String> {
    let bad = |why: std::io::Error| format!("{}: {why}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(bad)?;
    if !path.exists() {
        let draft = folder.join(format!(".{FILE}.{}", std::process::id()));
        let written = write_private(&draft, &made().map_err(bad)?);
        // A link, so that the file is whole from its first moment, and one that is there wins.
        let linked = written.and_then(|()| match std::fs::hard_link(&draft, path) {
            Err(why) if why.kind() != ErrorKind::AlreadyExists => std::fs::rename(&draft, path),
            linked => linked,
        });
        let _ = std::fs::remove_file(&draft);
        match linked {
            Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(bad(why)),
            _ => {}
        }
    }
    let mode = path.metadata().map_err(bad)?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(file = %path.display(), "the token could be read by others; its mode is 0600 now");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(bad)?;
    }
    read(path)
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

fn made() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|it| char::from_digit(it.into(), 16))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(state_dir: &Path) -> Config {
        Config { state_dir: state_dir.to_owned(), ..Config::default() }
    }

    #[test]
    fn a_token_is_made_once_and_only_its_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let config = config(&home.path().join("state"));
        let first = for_service(&config).unwrap().unwrap();
        let file = first.file.unwrap();
        assert_eq!(first.secret.expose().len(), 2 * BYTES);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(for_service(&config).unwrap().unwrap().secret, first.secret);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);

        let client = |url: &str| for_client(&config, &url.parse().unwrap()).unwrap();
        assert_eq!(client("http://127.0.0.1:9377"), Some(first.secret));
        assert_eq!(client("http://example.org:9377"), None);
    }

    #[test]
    fn a_given_token_is_not_written_and_a_bad_file_is_named() {
        let home = tempfile::tempdir().unwrap();
        let mut config = config(home.path());
        config.server.token = Some("given".into());
        let token = for_service(&config).unwrap().unwrap();
        assert_eq!((token.secret.expose(), token.file), ("given", None));
        assert!(std::fs::read_dir(home.path()).unwrap().next().is_none());

        config.server.token = None;
        let file = home.path().join("mine");
        config.server.token_file = Some(file.clone());
        assert!(format!("{:?}", for_service(&config).unwrap_err()).contains("mine: No such file"));
        std::fs::write(&file, " \n").unwrap();
        assert!(format!("{:?}", for_service(&config).unwrap_err()).contains("must be printable"));
        std::fs::write(&file, "from-file\n").unwrap();
        assert_eq!(for_service(&config).unwrap().unwrap().secret.expose(), "from-file");
        config.server.no_auth = true;
        assert!(for_service(&config).unwrap().is_none());
    }
}
