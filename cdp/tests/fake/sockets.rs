//! The HTTP side, and sockets that die in all ways.

use std::sync::Arc;
use std::time::Duration;

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tabvisor_cdp::fake::{Act, FakeChrome};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::raw::{Client, dial, value};

/// Status and body of a GET, by hand.
async fn get(fake: &FakeChrome, path: &str, host: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(fake.addr()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                return (head[9..12].parse().unwrap(), body.to_owned());
            }
        }
        assert!(stream.read_buf(&mut read).await.unwrap() > 0, "closed in the middle of an answer");
    }
}

async fn status_of_upgrade(url: &str) -> (StatusCode, String) {
    match dial(url).await {
        Err(Error::Http(response)) => {
            let body = response.body().clone().unwrap_or_default();
            (response.status(), String::from_utf8(body).unwrap())
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_http_side_leads_to_the_sockets() {
    let fake = FakeChrome::start().await;
    let host = fake.addr().to_string();
    let (status, body) = get(&fake, "/json/version", &host).await;
    let version: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, version["webSocketDebuggerUrl"].as_str().unwrap()),
        (200, fake.browser_url().as_str())
    );
    let (_, body) = get(&fake, "/json/list", &host).await;
    let list: Value = serde_json::from_str(&body).unwrap();
    let address = list[0]["webSocketDebuggerUrl"].as_str().unwrap();
    Client::open(address).await.call("", "Page.enable", json!({})).await;
    let port_file = fake.active_port_file();
    let (port, path) = port_file.split_once('\n').unwrap();
    Client::open(&format!("ws://127.0.0.1:{port}{path}")).await.heard().await;

    assert_eq!(get(&fake, "/foo", &host).await.0, 404);
    let (status, why) = get(&fake, "/json/version", "evil.test").await;
    assert_eq!(status, 500);
    assert!(why.starts_with("Host header"), "{why}");
    fake.answer_http("/json/version", 503, "busy");
    assert_eq!(get(&fake, "/json/version", &host).await, (503, "busy".to_owned()));
}

#[tokio::test]
async fn it_can_advertise_another_host() {
    let fake = FakeChrome::builder().advertised_host("0.0.0.0:9222").pages(0).start().await;
    let (_, body) = get(&fake, "/json/version", "localhost").await;
    assert!(body.contains("ws://0.0.0.0:9222/devtools/browser/"), "{body}");
    assert!(fake.targets().is_empty());
}

#[tokio::test]
async fn strangers_get_no_socket() {
    let fake = FakeChrome::start().await;
    let base = format!("ws://{}", fake.addr());
    for (path, status, says) in [
        ("/devtools/browser/other", 404, ""),
        ("/devtools/page/other", 500, "No such target id: other"),
        ("/", 404, ""),
    ] {
        let (got, body) = status_of_upgrade(&format!("{base}{path}")).await;
        assert_eq!((got.as_u16(), body.as_str()), (status, says), "{path}");
    }
    let mut request = fake.browser_url().into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://evil.test".parse().unwrap());
    match dial(request).await {
        Err(Error::Http(response)) => assert_eq!(response.status(), StatusCode::FORBIDDEN),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_speaks_tls() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();

    let fake = FakeChrome::builder().tls(Arc::new(server)).start().await;
    let url = fake.browser_url().replace("127.0.0.1", "localhost");
    assert!(url.starts_with("wss://") && fake.http_url().starts_with("https://"));
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let tcp = TcpStream::connect(fake.addr()).await.unwrap();
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let tls = connector.connect(name, tcp).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(url, tls).await.unwrap();
    socket.send(Message::text(r#"{"id":1,"method":"Target.getTargets"}"#)).await.unwrap();
    let answer = futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
    assert!(answer.to_text().unwrap().contains("about:blank"));
}

#[tokio::test(start_paused = true)]
async fn in_memory_a_paused_clock_stands_still_while_something_is_under_way() {
    let fake = FakeChrome::start().await;
    let hour = Duration::from_hours(1);
    fake.on("Slow.x").act(Act::delay(hour, Act::Default));
    let (socket, _) = tokio_tungstenite::client_async(fake.browser_url(), fake.pipe()).await.unwrap();
    let mut client = Client::on(socket);
    let start = Instant::now();
    let slow = client.send("", "Slow.x", json!({})).await;
    for _ in 0..50 {
        assert!(client.answered().await.is_empty());
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    // Nothing else is left to do; only the client's own patience is shorter.
    assert!(
        tokio::time::timeout(Duration::from_secs(3_595), fake.wait_until(|counts| counts.calls > 99))
            .await
            .is_err()
    );
    client.answer(slow).await;
    assert!(start.elapsed() >= hour);
    fake.die();
    assert_eq!(fake.pipe().read(&mut [0; 1]).await.unwrap(), 0, "nobody is there");
}

#[tokio::test]
#[should_panic(expected = "the fake Chrome panicked before")]
async fn a_mistake_of_the_test_fails_the_test() {
    let fake = FakeChrome::start().await;
    fake.on("Target.getTargets").act(Act::Pending);
    let mut client = Client::browser(&fake).await;
    client.send("", "Target.getTargets", json!({})).await;
    client.closed().await;
    fake.record();
}

#[tokio::test]
async fn what_is_no_command_is_refused_as_chrome_does() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    for (text, code) in [("garbage", -32700), (r#"{"id":9}"#, -32600), (r#"{"method":"x"}"#, -32600)] {
        client.socket.send(Message::text(text)).await.unwrap();
        assert_eq!(client.heard().await[0]["error"]["code"], code, "{text}");
    }
}

#[tokio::test]
async fn the_record_holds_every_command_and_can_be_waited_for() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let waiting = fake.wait_for_call(|call| call.expression() == "later");
    let id = client.evaluate(&session, "later").await;
    let call = waiting.await;
    assert_eq!((call.conn, call.id, call.session.as_deref()), (1, id, Some(session.as_str())));
    assert_eq!(call.target.as_deref(), Some(target.as_str()));
    assert_eq!(call.text("expression"), "later");
    assert!(call.param("absent").is_null());
    client.refused("nosuch", "Page.enable", json!({})).await;
    let methods: Vec<String> = fake.record().into_iter().map(|call| call.method).collect();
    assert_eq!(methods, ["Target.attachToTarget", "Runtime.evaluate", "Page.enable"]);
    assert_eq!(fake.calls("Runtime.evaluate").len(), 1);
    assert_eq!(fake.ran().len(), 2, "the stray one was not served");
}

#[tokio::test]
async fn events_by_the_test_go_where_they_should() {
    let fake = FakeChrome::start().await;
    let (mut client, target, session) = Client::on_page(&fake).await;
    let second = client.attach(&target).await;
    assert_eq!(fake.event(&session, "X.one", json!({"a": 1})), 1);
    assert_eq!(fake.event(&target, "X.all", json!({})), 2);
    fake.browser_event("X.browser", json!({}));
    let heard = client.heard().await;
    let to: Vec<&Value> = heard.iter().map(|event| &event["sessionId"]).collect();
    assert_eq!(to, [&json!(session), &json!(session), &json!(second), &Value::Null]);
}

#[tokio::test]
async fn links_can_be_cut_one_by_one_or_all() {
    let fake = FakeChrome::start().await;
    let (mut one, target, _) = Client::on_page(&fake).await;
    let mut two = Client::open(&fake.page_url(&target)).await;
    let mut three = Client::browser(&fake).await;
    assert_eq!((fake.open_connections(), fake.open_sessions()), (3, 2));
    assert!(fake.drop_link(1));
    assert!(!fake.drop_link(1));
    one.closed().await;
    assert_eq!((fake.open_connections(), fake.open_sessions()), (2, 1));
    three.heard().await;
    assert_eq!(fake.drop_links(), 2);
    two.closed().await;
    three.closed().await;
    Client::browser(&fake).await.heard().await;
}

#[tokio::test]
async fn a_dead_browser_refuses_and_another_may_take_its_port() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let mut idle = TcpStream::connect(fake.addr()).await.unwrap();
    let (old, port) = (fake.browser_url(), fake.addr().port());
    fake.die();
    assert_eq!(fake.open_connections(), 0);
    client.closed().await;
    assert!(!matches!(idle.read(&mut [0; 1]).await, Ok(1)), "what is no WebSocket is cut, too");
    assert!(TcpStream::connect(fake.addr()).await.is_err());
    let next = FakeChrome::builder().port(port).start().await;
    assert_eq!(status_of_upgrade(&old).await.0, StatusCode::NOT_FOUND, "it has another address");
    Client::browser(&next).await.heard().await;
}

#[tokio::test]
async fn a_dropped_fake_is_a_dead_browser() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    let addr = fake.addr();
    drop(fake);
    client.closed().await;
    assert!(TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn a_stalled_browser_takes_everything_and_says_nothing() {
    let fake = FakeChrome::start().await;
    let (mut client, _, session) = Client::on_page(&fake).await;
    fake.stall();
    let id = client.evaluate(&session, "1").await;
    client.socket.send(Message::Ping(vec![7].into())).await.unwrap();
    fake.wait_for_call(|call| call.method == "Runtime.evaluate").await;
    let quiet = Duration::from_millis(20);
    assert!(tokio::time::timeout(quiet, client.frame()).await.is_err());
    assert!(tokio::time::timeout(quiet, Client::browser(&fake)).await.is_err(), "no handshake either");
    fake.unstall();
    assert_eq!(value(&client.answer(id).await), 0);
    assert_eq!(client.frame().await.unwrap().unwrap(), Message::Pong(vec![7].into()));
}

#[tokio::test]
async fn a_stalled_browser_can_die() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    fake.stall();
    client.send("", "Target.getTargets", json!({})).await;
    fake.wait_until(|counts| counts.calls == 1).await;
    fake.die();
    client.closed().await;
}

#[tokio::test]
async fn pings_are_answered_and_closes_too() {
    let fake = FakeChrome::start().await;
    let mut client = Client::browser(&fake).await;
    client.socket.send(Message::Ping(vec![1].into())).await.unwrap();
    assert_eq!(client.frame().await.unwrap().unwrap(), Message::Pong(vec![1].into()));
    client.socket.close(None).await.unwrap();
    assert!(matches!(client.frame().await, Some(Ok(Message::Close(_)))));
    fake.wait_until(|counts| counts.connections == 0).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_nobody_up() {
    let fake = FakeChrome::start().await;
    let (mut lazy, _, session) = Client::on_page(&fake).await;
    fake.on("Runtime.evaluate").act(Act::Huge(4 << 20));
    for _ in 0..8 {
        lazy.evaluate(&session, "big").await;
    }
    fake.wait_until(|counts| counts.ran >= 9).await;
    Client::browser(&fake).await.heard().await;
    drop(lazy);
    fake.wait_until(|counts| counts.connections == 0).await;
}
