//! From what is given to an endpoint, on this machine.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::discovery::{DiscoveryError, Endpoint, Phase, resolve};

use crate::servers::{
    Certificate, DeadPort, Reply, Server, banner, direct, header, http, soon, through, version,
};

const LONG: Duration = Duration::from_mins(1);

pub(crate) async fn find(given: &str) -> Result<Endpoint, DiscoveryError> {
    soon(resolve(&given.parse()?, &direct(), &Budget::new(LONG))).await
}

#[tokio::test]
async fn a_browser_is_found_and_keeps_the_address_the_user_knows() {
    let server = Server::start(|_| version("ws://10.9.8.7:1/devtools/browser/abc")).await;
    let at = server.address;
    for given in
        [format!("http://{at}"), format!("{at}"), format!("ws://{at}"), format!("http://{at}/json/version")]
    {
        let found = find(&given).await.unwrap();
        assert_eq!(found.ws_url.as_str(), format!("ws://{at}/devtools/browser/abc"), "{given}");
        assert_eq!(found.browser.as_deref(), Some("Chrome/1.2.3.4"));
        assert!(found.local && found.host_header.is_none());
    }
    for head in server.heads() {
        assert!(head.starts_with("GET /json/version HTTP/1.1\r\n"), "{head}");
        assert_eq!(header(&head, "host"), Some(at.to_string().as_str()));
        assert_eq!(header(&head, "origin"), None);
    }
}

#[tokio::test]
async fn credentials_travel_with_the_question_and_stay_in_the_address() {
    let server = Server::start(|_| version("ws://in/live")).await;
    let found = find(&format!("http://me:pw@{}/?token=T", server.address)).await.unwrap();
    assert_eq!(found.ws_url.as_str(), format!("ws://me:pw@{}/live?token=T", server.address));
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /json/version?token=T "), "{head}");
    assert_eq!(header(head, "authorization"), Some("Basic bWU6cHc="));
    let shown = format!("{found:?}");
    assert!(!shown.contains("pw") && !shown.contains("token"), "{shown}");
}

#[tokio::test]
async fn a_websocket_address_with_a_path_is_not_asked_about() {
    let nobody = DeadPort::new();
    let given = format!("ws://127.0.0.1:{}/devtools/browser/abc", nobody.port());
    let found = find(&given).await.unwrap();
    assert_eq!((found.ws_url.as_str(), found.browser), (given.as_str(), None));
}

#[tokio::test]
async fn a_bare_websocket_address_is_taken_as_it_is_when_only_the_question_fails() {
    type Answer = fn(&str) -> Reply;
    let answers: [Answer; 4] = [
        |_| http("404 Not Found", "text/html", ""),
        |_| http("426 Upgrade Required", "text/plain", "no"),
        |_| http("401 Unauthorized", "text/plain", "no"),
        |_| Reply::Bytes(Vec::new()),
    ];
    for answer in answers {
        let server = Server::start(answer).await;
        let given = format!("ws://{}/?token=T", server.address);
        assert_eq!(find(&given).await.unwrap().ws_url.as_str(), given);
    }
    let nobody = DeadPort::new();
    let error = find(&format!("ws://127.0.0.1:{}", nobody.port())).await.unwrap_err();
    assert_eq!(error.kind(), "connection_refused");
}

#[tokio::test]
async fn ipv6_loopback_is_reached() {
    let chrome = |_: &str| version("ws://localhost/devtools/browser/six");
    let Some(server) = Server::at("[::1]:0", None, chrome).await else { return };
    let want = format!("ws://[::1]:{}/devtools/browser/six", server.port());
    for given in [format!("http://[::1]:{}", server.port()), format!("{}", server.port())] {
        let found = find(&given).await.unwrap();
        assert_eq!((found.ws_url.as_str(), found.local), (want.as_str(), true), "{given}");
    }
}

#[tokio::test]
async fn something_else_on_the_ipv4_port_does_not_hide_the_browser_on_ipv6() {
    let other = Server::start(|_| http("200 OK", "text/html", "<h1>not me</h1>")).await;
    let chrome = |_: &str| version("ws://localhost/devtools/browser/six");
    let Some(server) = Server::at(&format!("[::1]:{}", other.port()), None, chrome).await else { return };
    for given in [format!("{}", server.port()), format!("ws://localhost:{}", server.port())] {
        let found = find(&given).await.unwrap();
        assert_eq!(found.ws_url.as_str(), format!("ws://[::1]:{}/devtools/browser/six", server.port()));
    }
    assert!(!other.heads().is_empty(), "the IPv4 port was asked first");
}

#[tokio::test]
async fn a_silent_port_costs_a_share_of_the_budget_and_names_the_phase() {
    let silent = Server::start(|_| Reply::Begin(Vec::new())).await;
    let stalled =
        Server::start(|_| Reply::Begin(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec())).await;
    for (server, want) in [(&silent, Phase::Answer), (&stalled, Phase::Body)] {
        for scheme in ["http", "ws"] {
            let given = format!("{scheme}://{}/?token=SECRET", server.address).parse().unwrap();
            let budget = Budget::new(Duration::from_secs(2));
            let error = soon(resolve(&given, &direct(), &budget)).await.unwrap_err();
            assert!(matches!(&error, DiscoveryError::Timeout { phase, .. } if *phase == want), "{error}");
            assert_eq!((error.kind(), error.retry()), ("discovery_timeout", true));
            assert!(!error.to_string().contains("SECRET"), "{error}");
            assert!(budget.check().is_ok(), "time is left for something else");
        }
    }
}

#[tokio::test]
async fn a_server_that_never_says_hello_times_out_in_the_tls_handshake() {
    let (port, _server) = banner("").await;
    let given = format!("https://127.0.0.1:{port}").parse().unwrap();
    let error = soon(resolve(&given, &direct(), &Budget::new(Duration::from_secs(2)))).await.unwrap_err();
    assert!(matches!(error, DiscoveryError::Timeout { phase: Phase::Tls, .. }), "{error}");
}

#[tokio::test]
async fn a_cancelled_budget_is_no_timeout() {
    let mut server = Server::start(|_| Reply::Begin(Vec::new())).await;
    let budget = Budget::new(LONG);
    let given = format!("http://{}", server.address).parse().unwrap();
    let options = direct();
    let (result, ()) = soon(async {
        tokio::join!(resolve(&given, &options, &budget), async {
            while server.heads().is_empty() {
                tokio::task::yield_now().await;
            }
            budget.cancel();
        })
    })
    .await;
    assert_eq!(result.unwrap_err().kind(), "cancelled");
    soon(server.closed.recv()).await.expect("the connection was closed");
}

#[tokio::test]
async fn what_is_not_devtools_is_told_apart() {
    type Answer = fn(&str) -> Reply;
    let cases: [(Answer, &str, &str); 13] = [
        (|_| http("200 OK", "text/html; charset=x", "<h1>hi</h1>"), "not_devtools", "200 with text/html"),
        (|_| http("404 Not Found", "text/html", "no"), "not_devtools", "404 Not Found"),
        (|_| http("503 Service Unavailable", "text/html", "no"), "not_devtools", "503"),
        (|_| http("200 OK", "application/json", "{}"), "not_devtools", "no webSocketDebuggerUrl"),
        (
            |_| http("200 OK", "application/json", r#"{"Browser":"node.js/v22"}"#),
            "not_devtools",
            "(node.js/v22) has no",
        ),
        (|_| http("200 OK", "application/json", "[1]"), "not_devtools", "not with a version"),
        (|_| version("http://h/devtools/browser/x"), "not_devtools", "no WebSocket address"),
        (
            |_| {
                Reply::Bytes(b"HTTP/1.1 302 Found\r\nLocation: https://me:SECRET@to.example/x?t=SECRET\r\nContent-Length: 0\r\n\r\n".to_vec())
            },
            "not_devtools",
            "redirects to https://to.example/...;",
        ),
        (
            |_| Reply::Bytes(b"\x15\x03\x03\0\x02\x02\x28 garbage\r\n\r\n".to_vec()),
            "not_devtools",
            "does not answer in HTTP",
        ),
        (|_| http("200 OK", "application/json", vec![b' '; (1 << 20) + 1]), "not_devtools", "over 1 MiB"),
        (
            |_| Reply::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec()),
            "not_devtools",
            "broke off",
        ),
        (|_| Reply::Bytes(Vec::new()), "no_answer", "closed it"),
        (|_| http("401 Unauthorized", "text/html", "no"), "denied", "give credentials"),
    ];
    for (answer, kind, words) in cases {
        let server = Server::start(answer).await;
        let error = find(&format!("http://me:SECRET@{}/SECRET?t=SECRET", server.address)).await.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}");
        assert!(text.contains(words) && !text.contains("SECRET"), "{words}: {text}");
    }
}

#[tokio::test]
async fn a_banner_is_not_http() {
    let (port, _server) = banner("SSH-2.0-OpenSSH_9.9\r\n").await;
    for _ in 0..20 {
        let error = find(&format!("http://127.0.0.1:{port}")).await.unwrap_err();
        assert!(matches!(&error, DiscoveryError::NotDevTools { status: None, .. }), "{error}");
    }
}

#[tokio::test]
async fn refusals_and_unknown_hosts_have_their_own_kinds() {
    let nobody = DeadPort::new();
    let error = find(&nobody.port().to_string()).await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), ("connection_refused", true), "{error}");
    // Too long for a name: no resolver is asked.
    let error = find(&format!("http://{}.invalid:9222", "x".repeat(70))).await.unwrap_err();
    assert_eq!(error.kind(), "no_such_host", "{error}");
}

#[tokio::test]
async fn https_is_asked_over_tls_and_gives_wss() {
    let certificate = Certificate::new();
    let answer = |_: &str| version("ws://in:9222/devtools/browser/abc");
    let server = Server::at("127.0.0.1:0", Some(&certificate), answer).await.unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let given = format!("https://{host}:{}", server.port()).parse().unwrap();
        let found = soon(resolve(&given, &certificate.trusted(), &Budget::new(LONG))).await.unwrap();
        assert_eq!(found.ws_url.as_str(), format!("wss://{host}:{}/devtools/browser/abc", server.port()));
    }
    let error = find(&format!("https://{}", server.address)).await.unwrap_err();
    assert!(error.kind() == "tls_failed" && error.to_string().contains("certificate"), "{error}");
    let (plain, _server) = banner("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let error = find(&format!("https://127.0.0.1:{plain}")).await.unwrap_err();
    assert!(error.to_string().contains("does not speak tls"), "{error}");
    assert_eq!(error.kind(), "tls_failed", "{error}");
}

#[tokio::test]
async fn a_dead_proxy_does_not_matter_for_loopback() {
    let nobody = DeadPort::new();
    let dead = format!("http://127.0.0.1:{}", nobody.port());
    let mut options = direct();
    options.proxy = through(&dead);
    let server = Server::start(|_| version("ws://localhost/devtools/browser/abc")).await;
    for host in ["127.0.0.1", "localhost"] {
        let given = format!("http://{host}:{}", server.port()).parse().unwrap();
        soon(resolve(&given, &options, &Budget::new(LONG))).await.unwrap();
    }
    let given = "http://far.example:9222".parse().unwrap();
    let error = soon(resolve(&given, &options, &Budget::new(LONG))).await.unwrap_err();
    assert_eq!(error.kind(), "proxy_failed", "{error}");
}
