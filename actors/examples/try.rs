#![allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, reason = "scratch")]
use std::sync::Arc;
use std::time::Duration;
use tabvisor_actors::*;
use tabvisor_actors::limits::*;
use tabvisor_cdp::budget::Budget;
use tabvisor_page::navigate::WaitUntil;
#[tokio::main]
async fn main() {
    let s = Supervisor::start(1024).await.unwrap();
    let mut ev = s.subscribe();
    let _p = tabvisor_cdp::task::spawn(async move { while let Some(e) = ev.next().await { println!("   EV {}", serde_json::to_string(&e).unwrap()); } });
    let spec = BrowserSpec { source: Source::Attach("http://127.0.0.1:9555".parse().unwrap()), limits: Arc::new(Limits::default()), care: Care::default(), dial: Default::default() };
    let b = s.add_browser(spec, &Budget::new(Duration::from_secs(10))).await.unwrap();
    let ms = |n| Budget::new(Duration::from_millis(n));
    let t = s.open(b, "about:blank", WaitUntil::Load, &ms(10000)).await.unwrap().tab_id;
    let u = s.open(b, "about:blank", WaitUntil::Load, &ms(10000)).await.unwrap().tab_id;
    for code in ["1+1", "document.title='x'", "() => ({a:[1,NaN,undefined], d:new Date(0)})", "return 5", "await 7", "const a = 3; return a*2", "const", "throw new TypeError('no')", "document.body", "window", "123n", "NaN", "-0", "undefined", "new Promise(r=>setTimeout(()=>r('late'),100))", "'\\ud800'", "'a'.repeat(100*2**20)", "(()=>{let a={};a.a=a;return a})()", "JSON.parse('{')",
       "while(true){}", "1", "(async()=>{await null; while(true){}})()", "1", "const f=()=>Promise.resolve().then(f); return f()", "1", "new Promise(()=>{})","1", "(async()=>{await new Promise(r=>setTimeout(r,50)); while(true){}})()", "1", "1", "confirm('hm')", "1"] {
        let started = std::time::Instant::now();
        let r = s.evaluate(t, EvaluateRequest::new(code), &ms(500)).await;
        let took = started.elapsed();
        match r { Ok(v) => println!("{code} -> {} [{took:?}]", serde_json::to_string(&v).unwrap()), Err(e) => println!("{code} -> ERR {} | {e} | {e:?} [{took:?}]", e.kind()) }
        let r = s.evaluate(u, EvaluateRequest::new("1+1"), &ms(500)).await; if r.is_err() { println!("SIBLING {r:?}"); }
        if code.contains("setTimeout(r,50)") { tokio::time::sleep(Duration::from_millis(100)).await; println!("{:?}", s.tab(t).unwrap()); }
    }
    println!("{:?}", s.tabs());
    println!("{:?}", s.close(t, &ms(1000)).await);
    println!("{:?}", s.evaluate(t, EvaluateRequest::new("1"), &ms(1000)).await.map_err(|e| e.to_string()));
    println!("{:?}", s.open(b, "http://127.0.0.1:1/", WaitUntil::Load, &ms(10000)).await.map_err(|e| e.to_string()));
    println!("{:?}", s.open(b, "http://127.0.0.1:9555/json/version", WaitUntil::Load, &ms(10000)).await);
    let n = 300; let st = std::time::Instant::now(); for _ in 0..n { s.evaluate(u, EvaluateRequest::new("1+1"), &ms(1000)).await.unwrap(); } println!("evaluate {:?}", st.elapsed()/n);
    s.stop().await;
}
