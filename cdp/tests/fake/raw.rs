//! A client that knows nothing but WebSockets and JSON.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tabvisor_cdp::fake::FakeChrome;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Long enough never to be reached, short enough to see which test hangs.
const HANGS: Duration = Duration::from_secs(20);

/// A WebSocket at that address.
pub(crate) async fn dial(url: impl IntoClientRequest) -> Result<WebSocketStream<TcpStream>, Error> {
    let request = url.into_client_request()?;
    let host = request.uri().authority().expect("an address has a host").as_str();
    let stream = TcpStream::connect(host).await?;
    tokio_tungstenite::client_async(request, stream).await.map(|(socket, _)| socket)
}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) socket: WebSocketStream<S>,
    last: u64,
    inbox: VecDeque<Value>,
}

impl Client {
    pub(crate) async fn open(url: &str) -> Self {
        Self::on(dial(url).await.expect("no WebSocket"))
    }

    pub(crate) async fn browser(fake: &FakeChrome) -> Self {
        Self::open(&fake.browser_url()).await
    }

    /// A client with a session on the fake's first page.
    pub(crate) async fn on_page(fake: &FakeChrome) -> (Self, String, String) {
        let mut client = Self::browser(fake).await;
        let target = fake.targets().remove(0);
        let session = client.attach(&target).await;
        (client, target, session)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) fn on(socket: WebSocketStream<S>) -> Self {
        Self { socket, last: 0, inbox: VecDeque::new() }
    }

    /// Sends a command, on the socket itself if `session` is empty; its id.
    pub(crate) async fn send(&mut self, session: &str, method: &str, params: Value) -> u64 {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).await.expect("the socket closed");
        self.last
    }

    /// The whole answer to a command.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        let at = self.inbox.iter().position(|message| message["id"] == id);
        if let Some(message) = at.and_then(|at| self.inbox.remove(at)) {
            return message;
        }
        loop {
            let message = self.read().await;
            if message["id"] == id {
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    /// The result of a command.
    pub(crate) async fn call(&mut self, session: &str, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params).await;
        let mut answer = self.answer(id).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Code and message of the error that a command gets.
    pub(crate) async fn refused(&mut self, session: &str, method: &str, params: Value) -> (i64, String) {
        let id = self.send(session, method, params).await;
        error(&self.answer(id).await)
    }

    pub(crate) async fn evaluate(&mut self, session: &str, script: &str) -> u64 {
        self.send(session, "Runtime.evaluate", json!({"expression": script})).await
    }

    pub(crate) async fn attach(&mut self, target: &str) -> String {
        let params = json!({"targetId": target, "flatten": true});
        let result = self.call("", "Target.attachToTarget", params).await;
        self.inbox.clear();
        result["sessionId"].as_str().expect("an attach answers its session").to_owned()
    }

    /// Everything that came and was not taken, up to now.
    pub(crate) async fn heard(&mut self) -> Vec<Value> {
        let fence = self.send("", "Browser.getVersion", json!({})).await;
        let _ = self.answer(fence).await;
        self.inbox.drain(..).collect()
    }

    /// The ids of what was answered, of [`heard`](Self::heard).
    pub(crate) async fn answered(&mut self) -> Vec<u64> {
        self.heard().await.iter().filter_map(|message| message["id"].as_u64()).collect()
    }

    /// The next event, whatever it is.
    pub(crate) async fn event(&mut self) -> Value {
        let at = self.inbox.iter().position(|message| message["method"].is_string());
        if let Some(message) = at.and_then(|at| self.inbox.remove(at)) {
            return message;
        }
        loop {
            let message = self.read().await;
            if message["method"].is_string() {
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    /// The next frame as it is.
    pub(crate) async fn frame(&mut self) -> Option<Result<Message, Error>> {
        tokio::time::timeout(HANGS, self.socket.next()).await.expect("nothing came")
    }

    /// Waits until the other side has closed the socket.
    pub(crate) async fn closed(&mut self) {
        loop {
            match self.frame().await {
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return,
            }
        }
    }

    async fn read(&mut self) -> Value {
        loop {
            let frame = self.frame().await.expect("the socket closed").unwrap();
            if let Message::Text(text) = frame {
                return serde_json::from_str(text.as_str()).unwrap();
            }
        }
    }
}

pub(crate) fn error(answer: &Value) -> (i64, String) {
    let error = &answer["error"];
    (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default().to_owned())
}

/// What an evaluate returned.
pub(crate) fn value(answer: &Value) -> &Value {
    &answer["result"]["result"]["value"]
}

/// What came, by name: of events their methods, of answers their ids.
pub(crate) fn names(messages: &[Value]) -> Vec<String> {
    let name = |message: &Value| match message["method"].as_str() {
        Some(method) => method.to_owned(),
        None => message["id"].to_string(),
    };
    messages.iter().map(name).collect()
}
