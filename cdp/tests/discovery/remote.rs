//! Hosts that are not this machine: reached through a proxy of the test, by names that no resolver
//! knows.

use std::time::Duration;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::discovery::resolve;
use tabvisor_cdp::link::dial::{DialOptions, ProxyPolicy, ProxyRules, dial};

use crate::dialling::says_back;
use crate::servers::{
    Certificate, Reply, Server, direct, header, host_refused, http, soon, through, version,
};

fn budget() -> Budget {
    Budget::new(Duration::from_mins(1))
}

fn proxied(proxy: &Server) -> DialOptions {
    DialOptions { proxy: through(&format!("http://me:pw@{}", proxy.address)), ..direct() }
}

/// As Chromium does: only an IP address or localhost is served.
fn chrome(head: &str) -> Reply {
    match header(head, "host") {
        Some(host) if host.starts_with("far.example") => host_refused(),
        _ if header(head, "upgrade").is_some() => Reply::Echo,
        _ => version("ws://localhost/devtools/browser/abc"),
    }
}

#[tokio::test]
async fn a_remote_browser_is_found_and_dialled_through_the_proxy() {
    let server = Server::start(chrome).await;
    let to = server.address;
    let proxy = Server::start(move |_| Reply::Tunnel(to)).await;
    let options = proxied(&proxy);
    let found = soon(resolve(&"far.example:9222".parse().unwrap(), &options, &budget())).await.unwrap();
    assert_eq!(found.ws_url.as_str(), "ws://far.example:9222/devtools/browser/abc");
    assert!(!found.local);

    // The name was refused once; both ways of dialling know what to do about it.
    assert_eq!(found.host_header.as_deref(), Some("localhost"));
    let asked = server.heads().len();
    says_back(soon(dial(&found.ws_url, &found.dial_options(&options))).await.unwrap()).await;
    assert_eq!(server.heads().len(), asked + 1);
    says_back(soon(dial(&found.ws_url, &options)).await.unwrap()).await;
    assert_eq!(server.heads().len(), asked + 3);

    for head in proxy.heads() {
        assert!(head.starts_with("CONNECT far.example:9222 HTTP/1.1\r\n"), "{head}");
        assert_eq!(header(&head, "proxy-authorization"), Some("Basic bWU6cHc="));
    }
}

#[tokio::test]
async fn a_host_that_is_refused_under_any_name_says_what_to_do() {
    let server = Server::start(|_| host_refused()).await;
    let to = server.address;
    let proxy = Server::start(move |_| Reply::Tunnel(to)).await;
    let given = "http://far.example:9222".parse().unwrap();
    let error = soon(resolve(&given, &proxied(&proxy), &budget())).await.unwrap_err();
    assert_eq!(error.kind(), "host_refused");
    assert!(error.to_string().contains("give its IP address"), "{error}");
}

#[tokio::test]
async fn a_secure_remote_endpoint_is_reached_through_plain_and_secure_proxies() {
    let certificate = Certificate::new();
    let server = Server::at("127.0.0.1:0", Some(&certificate), |head| match header(head, "upgrade") {
        Some(_) => Reply::Echo,
        None => version("ws://in/live?a=1"),
    })
    .await
    .unwrap();
    let to = server.address;
    let plain = Server::start(move |_| Reply::Tunnel(to)).await;
    let secure = Server::at("127.0.0.1:0", Some(&certificate), move |_| Reply::Tunnel(to)).await.unwrap();
    for proxy in [format!("http://{}", plain.address), format!("https://{}", secure.address)] {
        let options = DialOptions { proxy: through(&proxy), ..certificate.trusted() };
        let given = "https://far.example/?token=T".parse().unwrap();
        let found = soon(resolve(&given, &options, &budget())).await.unwrap();
        assert_eq!(found.ws_url.as_str(), "wss://far.example/live?a=1&token=T");
        says_back(soon(dial(&found.ws_url, &options)).await.unwrap()).await;
    }
    assert!(plain.heads()[0].starts_with("CONNECT far.example:443 "));
    assert!(!secure.heads().is_empty());
}

#[tokio::test]
async fn a_proxy_that_will_not_is_named_without_its_credentials() {
    type Answer = fn(&str) -> Reply;
    let answers: [(Answer, &str); 4] = [
        (|_| http("407 Proxy Authentication Required", "text/html", ""), "wants credentials"),
        (|_| http("403 Forbidden", "text/html", ""), "403 Forbidden"),
        (|_| Reply::Bytes(b"SSH-2.0-x\r\n\r\n".to_vec()), "did not answer in HTTP"),
        (|_| Reply::Bytes(Vec::new()), "broke the connection"),
    ];
    for (answer, words) in answers {
        let proxy = Server::start(answer).await;
        let given = "http://far.example:9222".parse().unwrap();
        let error = soon(resolve(&given, &proxied(&proxy), &budget())).await.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), "proxy_failed");
        assert!(text.contains(words) && text.contains(&proxy.address.to_string()), "{text}");
        assert!(!text.contains("pw") && !text.contains("me:"), "{text}");
    }
    let options = DialOptions { proxy: through("socks5://127.0.0.1:1"), ..direct() };
    let error = soon(resolve(&"far.example:1".parse().unwrap(), &options, &budget())).await.unwrap_err();
    assert!(error.to_string().contains("socks5 proxy"), "{error}");
}

#[tokio::test]
async fn hosts_in_no_proxy_are_reached_without_it() {
    let proxy = Server::start(|_| http("403 Forbidden", "text/html", "")).await;
    let rules = ProxyRules {
        http: format!("http://{}", proxy.address),
        no: format!("{}.invalid", "x".repeat(70)),
        ..ProxyRules::default()
    };
    let options = DialOptions { proxy: ProxyPolicy::Fixed(rules), ..direct() };
    let given = format!("http://{}.invalid:9222", "x".repeat(70)).parse().unwrap();
    let error = soon(resolve(&given, &options, &budget())).await.unwrap_err();
    assert_eq!(error.kind(), "no_such_host", "it was looked up here: {error}");
    assert!(proxy.heads().is_empty());
}
