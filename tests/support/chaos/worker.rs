//! Works on one tab as an agent would: looks, acts, answers dialogs, and starts again where it must.

use std::sync::Arc;
use std::time::Duration;

use tabvisor::act::{Click, Effect, OptionName, TypeMode};
use tabvisor::dialog::Answer;
use tabvisor::{Act, Acted, At, Error, Named, RestartRequest, ScreenshotRequest, Tab, Tabvisor, snapshot};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task;
use tokio::time::Instant;

use super::super::{kind, ms, secs};
use super::page::{BUTTONS, INPUTS, Seen, seen};
use super::tally::Tally;

/// Budget of an action.
const ACTION: Duration = secs(3);
const TEXTS: [&str; 5] = ["Ada", "buy milk", "日本 👩‍👧", "", "a \"quoted\" one"];

struct Worker {
    tabvisor: Tabvisor,
    url: Arc<str>,
    tally: Tally,
    rng: fastrand::Rng,
    /// What was sent to the document that was last seen and may still arrive.
    uncertain: bool,
    document: u32,
}

pub async fn work(tabvisor: Tabvisor, url: Arc<str>, tally: Tally, rng: fastrand::Rng, end: Instant) {
    let mut worker = Worker { tabvisor, url, tally, rng, uncertain: false, document: 0 };
    let mut tab = None;
    while Instant::now() < end {
        tab = match tab {
            None => worker.open().await,
            Some(tab) => worker.step(tab).await,
        };
    }
    if let Some(tab) = tab {
        worker.close(tab).await;
    }
}

impl Worker {
    async fn open(&mut self) -> Option<Tab> {
        let budget = secs(10);
        let open = self.tabvisor.open(&*self.url).within(budget).into_future();
        let opened = self.tally.call("open", budget, open).await?;
        if opened.as_ref().is_err_and(|error| error.kind() == "overloaded") {
            // There is room for several times as many tabs as are worked on.
            self.tally.too_many(|| format!("{:#?}", self.tabvisor.tabs()));
            Budget::new(secs(1)).spent().await;
        }
        opened.ok()
    }

    async fn close(&self, tab: Tab) {
        let _ = self.tally.call("close", secs(8), tab.close()).await;
    }

    /// Does something, and gives the tab back unless it is closed.
    async fn step(&mut self, tab: Tab) -> Option<Tab> {
        let trouble = match self.rng.u8(..20) {
            0..=4 => self.click(&tab).await,
            5..=7 => self.type_text(&tab).await,
            8 => self.check(&tab).await,
            9 => self.select(&tab).await,
            10 => self.asked(&tab).await,
            11 => self.look(&tab).await,
            12 => self.navigate(&tab).await,
            13..=14 => self.crowd(&tab).await,
            15 => self.cancelled(&tab).await,
            16 => self.picture(&tab).await,
            17 if self.rng.u8(..4) == 0 => self.restarted(&tab).await,
            18 if self.rng.u8(..4) == 0 => {
                self.close(tab).await;
                return None;
            }
            _ => self.script(&tab).await,
        };
        match trouble {
            "dialog_open" => {
                let answered = tab.answer_dialog(None, Answer { accept: true, prompt_text: None });
                let answered = self.tally.call("dialog", secs(8), answered).await;
                // It may have been answered or gone with its page meanwhile.
                if answered.is_some_and(|it| matches!(kind(&it), "ok" | "no_dialog")) {
                    return Some(tab);
                }
                self.close(tab).await;
                None
            }
            "crashed" | "tab_stuck" if self.rng.bool() => self.bring_back(tab).await,
            "tab_closed" | "tab_lost" | "browser_lost" => None,
            "crashed" | "tab_stuck" => {
                self.close(tab).await;
                None
            }
            _ => Some(tab),
        }
    }

    /// A dead page is loaded again, or its tab restarted as an operator would; one that does not come
    /// back is given up.
    async fn bring_back(&mut self, tab: Tab) -> Option<Tab> {
        let back = if self.rng.bool() {
            let loaded = self.tally.call("revive", secs(8), tab.navigate(&self.url, secs(8))).await;
            matches!(loaded, Some(Ok(_)))
        } else {
            self.restarted(&tab).await == "ok"
        };
        if back {
            return Some(tab);
        }
        self.close(tab).await;
        None
    }

    /// An operator brings the tab back, or ends its scripts.
    async fn restarted(&mut self, tab: &Tab) -> &'static str {
        let budget = secs(10);
        let answer = if self.rng.u8(..3) == 0 {
            self.tally.call("terminate", budget, tab.terminate(budget)).await
        } else {
            self.tally.call("restart", budget, tab.restart(RestartRequest::default(), budget)).await
        };
        answer.map_or("lost", |it| kind(&it))
    }

    /// Acts, and lets the page judge what is called confirmed. `holds` compares what it had seen with
    /// what it has seen; `exact` is whether nothing else may be on its way.
    async fn act(
        &mut self,
        tab: &Tab,
        name: &'static str,
        act: Act,
        holds: impl FnOnce(&Seen, &Seen, bool) -> bool,
    ) -> &'static str {
        let before = seen(tab).await;
        if let Some(before) = &before
            && before.document != self.document
        {
            (self.document, self.uncertain) = (before.document, false);
        }
        let exact = !self.uncertain;
        let described = format!("{act:?}");
        let Some(answer) = self.tally.call(name, ACTION, tab.act(act, ACTION)).await else { return "lost" };
        self.uncertain |= answer.is_err();
        let confirmed = matches!(&answer, Ok(Acted { outcome, .. }) if outcome.effect == Effect::Confirmed);
        if confirmed {
            let after = seen(tab).await;
            let both = before.as_ref().zip(after.as_ref()).filter(|(one, two)| one.document == two.document);
            let held = both.map(|(before, after)| holds(before, after, exact));
            self.tally
                .confirmed(held, || format!("{described}\n{answer:?}\nbefore {before:?}\nafter {after:?}"));
        }
        match &answer {
            // The page asks something meanwhile.
            Ok(acted) if acted.outcome.observed.dialog.is_some() => "dialog_open",
            _ => kind(&answer),
        }
    }

    async fn click(&mut self, tab: &Tab) -> &'static str {
        let id = format!("b{}", self.rng.usize(..BUTTONS));
        let count: u8 = if self.rng.u8(..4) == 0 { 2 } else { 1 };
        let click = Click { count, ..Click::default() };
        let act = Act::Click { at: At::On(css(&id)), click, by_events: false };
        self.act(tab, "click", act, |before, after, exact| {
            let more = after.clicks_on(&id) - before.clicks_on(&id);
            if exact { more == u32::from(count) } else { more >= u32::from(count) }
        })
        .await
    }

    async fn type_text(&mut self, tab: &Tab) -> &'static str {
        let field = self.rng.usize(..INPUTS);
        let mode =
            *self.rng.choice(&[TypeMode::InsertText, TypeMode::Keystrokes, TypeMode::SetValue]).unwrap();
        let text = (*self.rng.choice(&TEXTS).unwrap()).to_owned();
        let submit = field == 0 && self.rng.bool();
        let on = css(&format!("f{field}"));
        let (wanted, delay) = (text.clone(), Duration::ZERO);
        let act = Act::Type { on, text, mode, replace: true, submit, delay };
        self.act(tab, "type", act, |before, after, exact| {
            let entered = after.enters - before.enters == u32::from(submit);
            after.texts[field] == wanted && (entered || !exact)
        })
        .await
    }

    async fn check(&mut self, tab: &Tab) -> &'static str {
        let checked = self.rng.bool();
        let act = Act::Check { on: css("box"), checked };
        self.act(tab, "check", act, |_, after, exact| after.checked == checked || !exact).await
    }

    async fn select(&mut self, tab: &Tab) -> &'static str {
        let chosen = *self.rng.choice(&["a", "b", "c"]).unwrap();
        let act = Act::Select { on: css("choice"), options: vec![chosen.into()], by: OptionName::Either };
        self.act(tab, "select", act, |_, after, _| after.chosen == chosen).await
    }

    /// A click that is answered with a question.
    async fn asked(&mut self, tab: &Tab) -> &'static str {
        let act = Act::Click { at: At::On(css("asks")), click: Click::default(), by_events: self.rng.bool() };
        let answer = self.tally.call("ask", ACTION, tab.act(act, ACTION)).await;
        match answer {
            None => "lost",
            Some(Ok(acted)) if acted.outcome.observed.dialog.is_some() => "dialog_open",
            Some(answer) => kind(&answer),
        }
    }

    async fn look(&mut self, tab: &Tab) -> &'static str {
        let request = snapshot::Request::default();
        let look = tab.snapshot(request).within(ACTION).into_future();
        self.tally.call("snapshot", ACTION, look).await.map_or("lost", |it| kind(&it))
    }

    async fn picture(&mut self, tab: &Tab) -> &'static str {
        let shot = tab.screenshot(ScreenshotRequest::default(), ACTION);
        self.tally.call("screenshot", ACTION, shot).await.map_or("lost", |it| kind(&it))
    }

    async fn navigate(&mut self, tab: &Tab) -> &'static str {
        let loaded = tab.navigate(&self.url, ACTION);
        self.tally.call("navigate", ACTION, loaded).await.map_or("lost", |it| kind(&it))
    }

    async fn script(&mut self, tab: &Tab) -> &'static str {
        let scripts = [
            ("1 + 1", 2_000),
            ("while (true) {}", 200),
            ("new Promise(() => {})", 100),
            ("await null; while (true) {}", 200),
            ("throw new Error('no')", 2_000),
            ("'x'.repeat(200000)", 2_000),
            ("const end = performance.now() + 300; while (performance.now() < end); return 1", 3_000),
        ];
        let (script, budget) = *self.rng.choice(&scripts).unwrap();
        self.evaluate(tab, script, ms(budget)).await
    }

    async fn evaluate(&self, tab: &Tab, script: &'static str, budget: Duration) -> &'static str {
        let call = tab.evaluate(script).within(budget).into_future();
        self.tally.call("evaluate", budget, call).await.map_or("lost", |it| kind(&it))
    }

    /// Several scripts at a time, each with a budget of its own.
    async fn crowd(&mut self, tab: &Tab) -> &'static str {
        let mut calls = Vec::new();
        for (script, budget) in [("1 + 1", 1_500), ("new Promise(() => {})", 150), ("while (true) {}", 250)] {
            let call = tab.evaluate(script).within(ms(budget)).into_future();
            let tally = self.tally.clone();
            calls.push(task::spawn(async move { tally.call("beside", ms(budget), call).await }));
        }
        let mut worst = "ok";
        for call in calls {
            let answer = call.join().await.flatten();
            match answer.map_or("lost", |it| kind(&it)) {
                "ok" | "timeout" => {}
                other => worst = other,
            }
        }
        worst
    }

    /// Nobody waits for it any more.
    async fn cancelled(&mut self, tab: &Tab) -> &'static str {
        let budget = ms(self.rng.u64(1..150));
        let call = tab.evaluate("while (true) {}").within(secs(20)).into_future();
        let given_up = async { Ok::<_, Error>(Budget::new(budget).run(call).await.is_err()) };
        self.tally.call("cancelled", budget, given_up).await.map_or("lost", |it| kind(&it))
    }
}

fn css(id: &str) -> Named {
    Named::Css(format!("#{id}"))
}
