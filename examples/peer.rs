//! The crate behind lines of JSON, for measuring it beside other tools (`make peers`): each line of
//! the input is a request, `{"id", "op", "args"}`, and is answered by a line, `{"id", "us", "value"}` or
//! `{"id", "error"}`, in any order. The microseconds are those of the call alone. The end of the input
//! ends it. Its argument is the Chromium to launch.
#![allow(clippy::print_stdout, reason = "an example")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabvisor::act::{Click, TypeMode};
use tabvisor::snapshot::Request;
use tabvisor::{Act, At, Config, Error, Named, Tab, Tabvisor};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::JoinSet;
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
struct Asked {
    id: u64,
    op: String,
    #[serde(default)]
    args: Args,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    url: String,
    tab: String,
    tabs: Vec<String>,
    script: String,
    selector: String,
    text: String,
    /// A budget, or how long to go on.
    ms: Option<u64>,
}

/// What a request needs of the whole: cheap to clone, one for each.
#[derive(Clone)]
struct Peer {
    tabvisor: Tabvisor,
    tabs: HashMap<String, Tab>,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut config = Config::default();
    config.browser.no_sandbox = std::env::var_os("TABVISOR_NO_SANDBOX").is_some_and(|it| it == "1");
    config.browser.chromium = std::env::args_os().nth(1).map(PathBuf::from);
    let tabvisor = Tabvisor::start(config).await?;

    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut answers = JoinSet::new();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { break };
                let tabvisor = tabvisor.clone();
                answers.spawn(async move {
                    match serde_json::from_str::<Asked>(&line) {
                        Ok(asked) => answer(tabvisor, asked).await,
                        Err(error) => json!({ "id": null, "error": error.to_string() }),
                    }
                });
            }
            // Whoever stops reading has gone, and then so does the input.
            Some(Ok(answer)) = answers.join_next() => println!("{answer}"),
        }
    }
    tabvisor.stop().await;
    Ok(())
}

async fn answer(tabvisor: Tabvisor, asked: Asked) -> Value {
    let rows = tabvisor.tabs();
    let tabs = rows.iter().filter_map(|row| Some((row.tab_id.to_string(), tabvisor.tab(row.tab_id).ok()?)));
    let peer = Peer { tabs: tabs.collect(), tabvisor };
    let begun = Instant::now();
    let done = peer.done(&asked).await;
    let us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    match done {
        Ok(value) => json!({ "id": asked.id, "us": us, "value": value }),
        Err(error) => json!({ "id": asked.id, "error": error }),
    }
}

impl Peer {
    async fn done(&self, Asked { op, args, .. }: &Asked) -> Result<Value, String> {
        match op.as_str() {
            "ready" => Ok(json!(env!("CARGO_PKG_VERSION"))),
            "open" => self.tabvisor.open(&args.url).await.map(|tab| json!(tab.id())).map_err(told),
            "close" => self.tab(&args.tab)?.close().await.map(|()| Value::Null).map_err(told),
            "evaluate" => {
                let mut call = self.tab(&args.tab)?.evaluate(&args.script);
                if let Some(ms) = args.ms {
                    call = call.within(Duration::from_millis(ms));
                }
                call.await.map_err(told)?.read::<Value>().map_err(|error| error.to_string())
            }
            "click" => {
                let at = At::On(Named::Css(args.selector.clone()));
                self.act(args, Act::Click { at, click: Click::default(), by_events: false }).await
            }
            "fill" => self.act(args, write(args, TypeMode::InsertText, true)).await,
            "type" => self.act(args, write(args, TypeMode::Keystrokes, false)).await,
            "snapshot" => {
                let whole = Request { max_chars: Some(0), ..Request::default() };
                let snapshot = self.tab(&args.tab)?.snapshot(whole).within(PATIENCE).await.map_err(told)?;
                serde_json::to_value(snapshot).map_err(|error| error.to_string())
            }
            "rate" => self.rate(args).await,
            other => Err(format!("no such op: {other}")),
        }
    }

    fn tab(&self, name: &str) -> Result<&Tab, String> {
        self.tabs.get(name).ok_or_else(|| format!("no such tab: {name}"))
    }

    async fn act(&self, args: &Args, act: Act) -> Result<Value, String> {
        let acted = self.tab(&args.tab)?.act(act, PATIENCE).await.map_err(told)?;
        serde_json::to_value(acted).map_err(|error| error.to_string())
    }

    /// Evaluates a second, with one caller a tab.
    async fn rate(&self, args: &Args) -> Result<Value, String> {
        let begun = Instant::now();
        let until = begun + Duration::from_millis(args.ms.unwrap_or(1_000));
        let mut callers = JoinSet::new();
        for name in &args.tabs {
            let (tab, script) = (self.tab(name)?.clone(), args.script.clone());
            callers.spawn(async move {
                let mut count = 0_u32;
                while Instant::now() < until {
                    tab.evaluate(&script).await.map_err(told)?;
                    count += 1;
                }
                Ok::<_, String>(count)
            });
        }
        let counts: Result<Vec<u32>, String> = callers.join_all().await.into_iter().collect();
        Ok(json!(f64::from(counts?.iter().sum::<u32>()) / begun.elapsed().as_secs_f64()))
    }
}

fn write(args: &Args, mode: TypeMode, replace: bool) -> Act {
    let (on, text) = (Named::Css(args.selector.clone()), args.text.clone());
    Act::Type { on, text, mode, replace, submit: false, delay: Duration::ZERO }
}

fn told(error: impl Into<Error>) -> String {
    error.into().to_string()
}
