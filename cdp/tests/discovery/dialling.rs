//! Opening the WebSocket.

use futures_util::{SinkExt, StreamExt};
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::dial::{DialOptions, Socket, Stream, dial};
use tokio_tungstenite::tungstenite::{Error, Message};
use url::Url;

use crate::servers::{Certificate, DeadPort, Reply, Server, direct, header, http, soon};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// Sends a text and expects it back.
pub(crate) async fn says_back(mut socket: Socket) {
    soon(async {
        socket.send(Message::text("hello")).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    })
    .await;
}

async fn refusal(address: &str) -> String {
    match soon(dial(&url(address), &direct())).await.unwrap_err() {
        CdpError::Connect { address, why } => format!("{address}: {why}"),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn both_families_and_their_common_name_are_dialled() {
    let server = Server::start(|_| Reply::Echo).await;
    for host in ["127.0.0.1", "localhost", "a.localhost"] {
        let socket = soon(dial(&url(&format!("ws://{host}:{}/x", server.port())), &direct())).await.unwrap();
        let Stream::Plain(tcp) = socket.get_ref() else { panic!("not plain") };
        assert!(tcp.nodelay().unwrap());
        says_back(socket).await;
    }
    let Some(server) = Server::at("[::1]:0", None, |_| Reply::Echo).await else { return };
    for host in ["[::1]", "localhost"] {
        let address = url(&format!("ws://{host}:{}/devtools/browser/x", server.port()));
        says_back(soon(dial(&address, &direct())).await.unwrap()).await;
    }
}

#[tokio::test]
async fn the_handshake_has_credentials_and_headers_and_no_origin() {
    let server = Server::start(|_| Reply::Echo).await;
    let options = DialOptions { headers: vec![("X-Team".into(), "blue".into())], ..direct() };
    let address = url(&format!("ws://me:p%40ss@{}/x?token=T#f", server.address));
    says_back(soon(dial(&address, &options)).await.unwrap()).await;
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /x?token=T HTTP/1.1\r\n"), "{head}");
    assert_eq!(header(head, "authorization"), Some("Basic bWU6cEBzcw=="));
    assert_eq!(header(head, "x-team"), Some("blue"));
    assert_eq!(header(head, "host"), Some(server.address.to_string().as_str()));
    assert_eq!(header(head, "origin"), None);
    assert_eq!(header(head, "sec-websocket-extensions"), None);
}

#[tokio::test]
async fn what_is_no_websocket_is_told_in_words_and_without_secrets() {
    type Answer = fn(&str) -> Reply;
    let cases: [(Answer, &str); 6] = [
        (|_| http("404 Not Found", "text/html", ""), "answered with 404 Not Found (no such endpoint"),
        (|_| http("401 Unauthorized", "text/html", ""), "401 Unauthorized (it wants credentials)"),
        (|_| http("500 Internal Server Error", "text/html", ""), "500 Internal Server Error"),
        (|_| http("200 OK", "text/html", "hi"), "200 OK"),
        (|_| Reply::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec()), "no WebSocket server"),
        (|_| Reply::Bytes(Vec::new()), "no WebSocket server"),
    ];
    for (answer, words) in cases {
        let server = Server::start(answer).await;
        let text = refusal(&format!("ws://me:SECRET@{}/devtools/browser/x?t=SECRET", server.address)).await;
        assert!(text.contains(words) && !text.contains("SECRET"), "{text}");
        assert_eq!(server.heads().len(), 1, "an IP address is not tried under another name");
    }
    let nobody = DeadPort::new();
    assert!(refusal(&format!("ws://127.0.0.1:{}/x", nobody.port())).await.contains("refused"));
    assert!(refusal("http://127.0.0.1:1/x").await.contains("not a WebSocket address"));
}

#[tokio::test]
async fn wss_needs_a_certificate_that_is_believed() {
    let certificate = Certificate::new();
    let server = Server::at("127.0.0.1:0", Some(&certificate), |_| Reply::Echo).await.unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let address = url(&format!("wss://{host}:{}/x", server.port()));
        says_back(soon(dial(&address, &certificate.trusted())).await.unwrap()).await;
    }
    assert!(refusal(&format!("wss://{}/x", server.address)).await.contains("tls failed"));
    let address = url(&format!("wss://a.localhost:{}/x", server.port()));
    let error = soon(dial(&address, &certificate.trusted())).await.unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

#[tokio::test]
async fn dropping_the_future_closes_the_socket() {
    let mut server = Server::start(|_| Reply::Begin(Vec::new())).await;
    let address = url(&format!("ws://{}/x", server.address));
    let options = direct();
    soon(async {
        let handshake = dial(&address, &options);
        tokio::pin!(handshake);
        while server.heads().is_empty() {
            tokio::select! {
                biased;
                _ = &mut handshake => panic!("nobody answered"),
                () = tokio::task::yield_now() => {}
            }
        }
    })
    .await;
    soon(server.closed.recv()).await.expect("the server saw the end");
}

#[tokio::test]
async fn big_messages_pass_through_small_buffers() {
    let server = Server::start(|_| Reply::Echo).await;
    let mut socket = soon(dial(&url(&format!("ws://{}/x", server.address)), &direct())).await.unwrap();
    let big = "0123456789abcdef".repeat((40 << 20) / 16);
    soon(async {
        socket.send(Message::text(big.clone())).await.unwrap();
        let Message::Text(back) = socket.next().await.unwrap().unwrap() else { panic!("not text") };
        assert!(back.as_str() == big, "{} bytes came back", back.len());
    })
    .await;
    says_back(socket).await;
}

#[tokio::test]
async fn a_message_over_the_limit_ends_the_link() {
    let server = Server::start(|_| Reply::Echo).await;
    let options = DialOptions { max_frame_bytes: 1000, ..direct() };
    let mut socket = soon(dial(&url(&format!("ws://{}/x", server.address)), &options)).await.unwrap();
    soon(async {
        for (length, fits) in [(1000, true), (1001, false)] {
            socket.send(Message::text("x".repeat(length))).await.unwrap();
            let answer = socket.next().await.unwrap();
            assert_eq!(answer.is_ok(), fits);
            assert!(fits || matches!(answer, Err(Error::Capacity(_))));
        }
    })
    .await;
}
