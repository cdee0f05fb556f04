//! The fixture pages, on a server of their own.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use tabvisor_cdp::task::{self, Task};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// A server of pages; it ends when dropped.
pub struct Pages {
    address: SocketAddr,
    /// Told whenever somebody asks for `/never`.
    pub never_asked: Arc<Notify>,
    _server: Task<()>,
}

impl Pages {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let never_asked = Arc::new(Notify::new());
        let router = Router::new().fallback(page).with_state(Arc::clone(&never_asked));
        let server = task::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, never_asked, _server: server }
    }

    /// On 127.0.0.1.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same server as another site.
    pub fn other_site(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }
}

async fn page(State(never_asked): State<Arc<Notify>>, uri: Uri) -> Response {
    match uri.path() {
        "/ok" => Html("<!doctype html><title>ok</title><p>ok</p>").into_response(),
        "/hang" => Html("<!doctype html><title>hang</title><script>setTimeout(()=>{for(;;);},300)</script>").into_response(),
        "/busy" => Html(
            "<!doctype html><title>busy</title><script>
             window.work = ms => { const end = performance.now() + ms; while (performance.now() < end); window.worked = (window.worked||0) + 1; };
             </script>",
        )
        .into_response(),
        "/popup" => Html("<!doctype html><title>popup</title><script>alert('first words')</script>").into_response(),
        // Something that never ends is asked for while it loads.
        "/stream" => {
            Html("<!doctype html><title>stream</title><script>window.source = new EventSource('/never?stream')</script>")
                .into_response()
        }
        "/form" => Html(
            "<!doctype html><title>form</title><h1>Form</h1><input aria-label=Name value=Ada>
             <button id=save>Save</button><button>Save</button><a href=/ok>Away</a>
             <div id=host></div><script>
             document.getElementById('host').attachShadow({ mode: 'closed' }).innerHTML = '<button>Hidden</button>';
             </script>",
        )
        .into_response(),
        // Everything that happens to it is in `log`.
        "/acts" => Html(
            "<!doctype html><title>acts</title><button id=plain>Plain</button><button id=asks>Asks</button>
             <button id=opens>Opens</button><button id=covered>Covered</button><button disabled>Off</button>
             <input aria-label=Field><input type=checkbox aria-label=Box><select aria-label=Choice><option>a<option>b</select>
             <style>body { padding: 20px } #cover { position: fixed; background: red }</style><div id=cover></div><script>
             window.log = [];
             const by = id => document.getElementById(id);
             by('plain').onclick = e => log.push('click ' + e.isTrusted);
             by('asks').onclick = () => log.push('confirm ' + confirm('really?'));
             by('opens').onclick = () => open('/ok');
             document.querySelector('input').onkeydown = e => { if (e.key === 'Enter') log.push('enter ' + e.keyCode + ' ' + e.target.value) };
             document.querySelector('[type=checkbox]').onchange = e => log.push('checked ' + e.target.checked);
             document.querySelector('select').onchange = e => log.push('chosen ' + e.target.value);
             const box = by('covered').getBoundingClientRect();
             Object.assign(by('cover').style, { left: box.x - 2 + 'px', top: box.y - 2 + 'px', width: box.width + 4 + 'px', height: box.height + 4 + 'px' });
             </script>",
        )
        .into_response(),
        // One frame of the same site, one of another.
        "/frames" => Html(
            "<!doctype html><title>frames</title><button>Outer</button><iframe title=near src=/form></iframe><script>
             const far = document.createElement('iframe');
             far.title = 'far';
             far.src = `http://localhost:${location.port}/form`;
             document.body.append(far);
             </script>",
        )
        .into_response(),
        "/404" => (StatusCode::NOT_FOUND, Html("<!doctype html><title>no</title>not here")).into_response(),
        "/401" => {
            (StatusCode::UNAUTHORIZED, [("www-authenticate", "Basic realm=\"fixtures\"")], "who are you?").into_response()
        }
        "/download" => ([("content-disposition", "attachment; filename=a.bin")], "abc").into_response(),
        "/204" => StatusCode::NO_CONTENT.into_response(),
        "/never" => {
            never_asked.notify_one();
            std::future::pending().await
        }
        _ => (StatusCode::NOT_FOUND, "no such fixture").into_response(),
    }
}
