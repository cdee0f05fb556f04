//! `DevToolsActivePort`: in a profile folder, given by itself, missing, malformed and stale.

use std::path::Path;
use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::discovery::{DiscoveryError, Endpoint, Given, PORT_FILE, resolve};

use crate::servers::{DeadPort, Server, direct, http, soon, version};

async fn find(path: &Path) -> Result<Endpoint, DiscoveryError> {
    let given = Given::from(path.to_owned());
    soon(resolve(&given, &direct(), &Budget::new(Duration::from_mins(1)))).await
}

fn profile(port: u16, path: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(PORT_FILE), format!("{port}\n{path}")).unwrap();
    folder
}

#[tokio::test]
async fn the_folder_and_the_file_lead_to_the_browser() {
    let server = Server::start(|_| version("ws://127.0.0.1/devtools/browser/abc")).await;
    let folder = profile(server.port(), "/devtools/browser/abc");
    for path in [folder.path().to_owned(), folder.path().join(PORT_FILE)] {
        let found = find(&path).await.unwrap();
        assert_eq!(found.ws_url.as_str(), format!("ws://{}/devtools/browser/abc", server.address));
        assert!(found.local && found.browser.is_some());
    }
}

#[tokio::test]
async fn a_browser_without_json_version_is_taken_by_its_file() {
    let server = Server::start(|_| http("404 Not Found", "text/html", "")).await;
    let folder = profile(server.port(), "/devtools/browser/abc");
    let found = find(folder.path()).await.unwrap();
    assert_eq!(found.ws_url.as_str(), format!("ws://{}/devtools/browser/abc", server.address));
    assert_eq!(found.browser, None);
}

#[tokio::test]
async fn the_browser_of_the_file_is_found_beside_another_one() {
    let other = Server::start(|_| version("ws://127.0.0.1/devtools/browser/other")).await;
    let ours = |_: &str| version("ws://[::1]/devtools/browser/ours");
    let place = format!("[::1]:{}", other.port());
    let Some(server) = Server::at(&place, None, ours).await else { return };
    let folder = profile(server.port(), "/devtools/browser/ours");
    let found = find(folder.path()).await.unwrap();
    assert_eq!(found.ws_url.as_str(), format!("ws://{place}/devtools/browser/ours"));
}

#[tokio::test]
async fn a_stale_file_is_called_stale() {
    let nobody = DeadPort::new();
    let gone = profile(nobody.port(), "/devtools/browser/abc");
    let error = find(gone.path()).await.unwrap_err();
    assert!(error.kind() == "bad_port_file" && error.to_string().contains("nothing listens"), "{error}");

    let server = Server::start(|_| version("ws://127.0.0.1/devtools/browser/new")).await;
    let folder = profile(server.port(), "/devtools/browser/old");
    let error = find(folder.path()).await.unwrap_err();
    assert!(error.kind() == "bad_port_file" && error.to_string().contains("another browser"), "{error}");
}

#[tokio::test]
async fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = [folder.path().to_owned(), folder.path().join("nowhere"), folder.path().join(PORT_FILE)];
    for path in missing {
        let error = find(&path).await.unwrap_err();
        assert!(error.kind() == "bad_port_file" && error.to_string().contains("user data dir"), "{error}");
    }
    for text in ["", "9222", "x\n/devtools/browser/a", "9222\n/other\n", "9222\n/devtools/browser/a\nmore"] {
        std::fs::write(folder.path().join(PORT_FILE), text).unwrap();
        assert_eq!(find(folder.path()).await.unwrap_err().kind(), "bad_port_file", "{text:?}");
    }
    std::fs::write(folder.path().join(PORT_FILE), vec![b'9'; 1 << 16]).unwrap();
    assert_eq!(find(folder.path()).await.unwrap_err().kind(), "bad_port_file");
    // Reading a device would never end.
    assert_eq!(find(Path::new("/dev/zero")).await.unwrap_err().kind(), "bad_port_file");
}
