//! A client of the MCP tools that does as little as possible by itself, and keeps everything that it was sent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tabvisor::Config;
use tabvisor::http::{Access, Service};
use tabvisor::mcp::{Home, serve};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, watch};

use super::{Running, secs};

/// A connection, as a client sees it.
#[derive(Clone)]
pub struct Agent {
    write: Arc<AsyncMutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>>,
    ids: Arc<AtomicU64>,
    heard: Arc<Heard>,
}

struct Heard {
    /// Answers by the number of their request.
    answers: watch::Sender<BTreeMap<u64, Value>>,
    /// What came without being asked for.
    news: Mutex<Vec<Value>>,
    /// What reads, and serves it.
    tasks: Mutex<Vec<Task<()>>>,
}

/// The tools on the browser of a supervisor, without anything between.
pub struct Tools {
    pub home: Home,
}

impl Tools {
    pub fn of(running: &Running) -> Self {
        Self::with(running, |_| {})
    }

    pub fn with(running: &Running, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = super::config(&running.state);
        change(&mut config);
        let (supervisor, browser) = (running.tabvisor.supervisor().clone(), running.tabvisor.browser());
        let service = Service::new(supervisor, Some(browser), Access::for_everybody(), &config);
        Self { home: Home::of_service(&service) }
    }

    /// A new connection.
    pub async fn connect(&self) -> Agent {
        self.connect_as("2025-11-25").await
    }

    /// The same, in this version of the protocol.
    pub async fn connect_as(&self, version: &str) -> Agent {
        let (here, there) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(there);
        let home = self.home.clone();
        let serving = task::spawn(async move { serve(&home, read, write).await.unwrap() });
        let (read, write) = tokio::io::split(here);
        let agent = Agent::new(read, write);
        agent.heard.tasks.lock().unwrap().push(serving);
        let begun = agent.initialize(version).await;
        assert_eq!(begun["protocolVersion"], version, "{begun}");
        agent
    }
}

impl Agent {
    pub fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let heard = Arc::new(Heard {
            answers: watch::Sender::default(),
            news: Mutex::default(),
            tasks: Mutex::default(),
        });
        let into = Arc::downgrade(&heard);
        let reading = task::spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).expect("nothing but the protocol");
                let Some(heard) = into.upgrade() else { return };
                match message.get("id").and_then(Value::as_u64) {
                    Some(id) if message.get("method").is_none() => {
                        heard.answers.send_modify(|all| drop(all.insert(id, message)));
                    }
                    _ => heard.news.lock().unwrap().push(message),
                }
            }
        });
        heard.tasks.lock().unwrap().push(reading);
        Self { write: Arc::new(AsyncMutex::new(Some(Box::new(write)))), ids: Arc::default(), heard }
    }

    pub async fn send(&self, message: &Value) {
        let mut write = self.write.lock().await;
        let write = write.as_mut().expect("the connection is open");
        write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        write.flush().await.unwrap();
    }

    /// Sends a request and gives its number.
    pub async fn begin(&self, method: &str, params: Value) -> u64 {
        let id = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// The answer to a request.
    pub async fn answer(&self, id: u64) -> Value {
        let mut answers = self.heard.answers.subscribe();
        let answered = answers.wait_for(|all| all.contains_key(&id));
        let answers = Budget::new(secs(60)).run(answered).await.expect("an answer within a minute").unwrap();
        answers[&id].clone()
    }

    pub async fn request(&self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    pub async fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    pub async fn initialize(&self, version: &str) -> Value {
        let about = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
        let answer = self.request("initialize", params).await;
        self.notify("notifications/initialized", json!({})).await;
        answer["result"].clone()
    }

    pub async fn begin_tool(&self, name: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// The whole result of a tool.
    pub async fn result(&self, name: &str, arguments: Value) -> Value {
        let id = self.begin_tool(name, arguments).await;
        self.result_of(id).await
    }

    pub async fn result_of(&self, id: u64) -> Value {
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "a protocol error: {answer}");
        answer["result"].clone()
    }

    /// What a tool tells.
    pub async fn tool(&self, name: &str, arguments: Value) -> Value {
        told(&self.result(name, arguments).await)
    }

    /// The same, of a call that must have gone as it was asked for.
    pub async fn ok(&self, name: &str, arguments: Value) -> Value {
        let told = self.tool(name, arguments.clone()).await;
        assert_eq!(told["status"], "ok", "{name} {arguments}: {told}");
        told
    }

    /// Opens a tab and gives its name.
    pub async fn open(&self, url: &str) -> String {
        let told = self.ok("browser_tabs", json!({ "action": "open", "url": url })).await;
        told["observed"]["tab_id"].as_str().unwrap().to_owned()
    }

    /// The value of a script in a tab.
    pub async fn value(&self, tab: &str, function: &str) -> Value {
        let told = self.ok("browser_evaluate", json!({ "tab_id": tab, "function": function })).await;
        told["observed"]["value"].clone()
    }

    /// The ref of the element in a line of the outline that contains these words.
    pub async fn find(&self, tab: &str, words: &str) -> String {
        let told = self.ok("get_browser_state", json!({ "tab_id": tab })).await;
        let outline = told["observed"]["outline"].as_str().unwrap();
        let line = outline.lines().find(|line| line.contains(words));
        let line = line.unwrap_or_else(|| panic!("no {words} in {outline}"));
        let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no ref in {line}"));
        rest.split(']').next().unwrap().to_owned()
    }

    /// Whether a request was answered so far.
    pub fn was_answered(&self, id: u64) -> bool {
        self.heard.answers.borrow().contains_key(&id)
    }

    pub fn news(&self) -> Vec<Value> {
        self.heard.news.lock().unwrap().clone()
    }

    /// Ends what the server reads.
    pub async fn close(&self) {
        if let Some(mut write) = self.write.lock().await.take() {
            let _ = write.shutdown().await;
        }
    }
}

/// What a result says, in both of its forms.
pub fn told(result: &Value) -> Value {
    let told = result["structuredContent"].clone();
    assert!(told["status"].is_string(), "{result}");
    assert!(result["content"][0]["text"].is_string(), "{result}");
    assert_eq!(result.get("isError").is_some(), told["status"] == "failed", "{result}");
    told
}

/// The code of a refusal or failure.
pub fn code(told: &Value) -> &str {
    told["refusal"]["code"].as_str().or(told["code"].as_str()).unwrap_or("none")
}
