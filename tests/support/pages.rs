//! The fixture pages, on a server of their own.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_LENGTH, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use futures_util::{StreamExt, stream};
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

async fn page(State(never_asked): State<Arc<Notify>>, uri: Uri, headers: HeaderMap) -> Response {
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
        "/dl" => attachment("report.txt", "what was asked for\n".into()),
        // A server that takes its time.
        "/dl-late" => {
            tokio::time::sleep(super::ms(150)).await;
            attachment("late.txt", "late\n".into())
        }
        // A server may name what it likes.
        "/dl-odd" => attachment("../../odd\u{202e}:name?.txt", "odd\n".into()),
        // It begins and never ends.
        "/dl-slow" => {
            let begun = unending("begun\n".repeat(4096));
            ([(CONTENT_DISPOSITION, "attachment; filename=slow.bin"), (CONTENT_LENGTH, "1000000")], begun).into_response()
        }
        "/downloads" => Html(
            "<!doctype html><title>downloads</title><a id=plain href=/dl>Plain</a> <a id=named href=/dl download=mine.txt>Named</a>
             <a id=blank href=/dl target=_blank>Blank</a> <a id=slow href=/dl-slow>Slow</a> <a id=odd href=/dl-odd>Odd</a>
             <a id=blob>Blob</a> <a id=late href=/dl-late download><b>Late</b></a> <button id=nothing>Nothing</button><script>
             document.getElementById('blob').onclick = e => {
               const made = document.createElement('a');
               made.href = URL.createObjectURL(new Blob(['made here']));
               made.download = 'made.txt';
               made.click();
             };
             </script>",
        )
        .into_response(),
        "/downloads-framed" => Html("<!doctype html><title>framed</title><iframe title=inside src=/downloads></iframe>").into_response(),
        // What it gets is in `log`.
        "/upload" => Html(
            "<!doctype html><title>upload</title><input type=file id=one aria-label=One>
             <input type=file id=many aria-label=Many multiple><input type=file id=image aria-label=Image accept='image/*,.csv'>
             <button id=chooses>Chooses</button><button id=makes>Makes</button><button id=nothing>Nothing</button><script>
             window.log = [];
             const told = input => input.addEventListener('change', async () => {
               for (const file of input.files) {
                 const bytes = new Uint8Array(await file.arrayBuffer());
                 let sum = 0;
                 for (const byte of bytes) sum = (sum * 31 + byte) >>> 0;
                 log.push([input.id, file.name, file.size, sum, file.type]);
               }
             });
             document.querySelectorAll('input').forEach(told);
             document.getElementById('chooses').onclick = () => document.getElementById('many').click();
             document.getElementById('makes').onclick = () => {
               const made = document.createElement('input');
               made.type = 'file';
               made.id = 'made';
               told(made);
               made.click();
             };
             </script>",
        )
        .into_response(),
        // Opens without end, as long as it is not stopped.
        "/opens-without-end" => Html(
            "<!doctype html><title>opens</title><script>
             window.asked = 0;
             // A page in the background has its timers slowed down.
             const tick = new MessageChannel();
             window.go = times => { tick.port1.onmessage = () => { if (asked++ < times) { open('/ok'); tick.port2.postMessage(0); } }; tick.port2.postMessage(0) };
             </script>",
        )
        .into_response(),
        "/opens" => Html(
            "<!doctype html><title>opens</title><a href=/ok target=_blank>Blank</a><a href=/ok target=_blank rel=noopener>Noopener</a>
             <button onclick=\"window.open('/ok')\">Window</button><button onclick=\"window.open('/ok');window.open('/form')\">Two</button>
             <iframe title=inside sandbox=allow-scripts srcdoc=\"<button onclick='parent.postMessage(String(window.open(`/ok`)),`*`)'>Blocked</button>\"></iframe>
             <script>window.said = []; onmessage = e => said.push(e.data)</script>",
        )
        .into_response(),
        // Speaks in its first script, and asks for something that is not there.
        "/says" => Html(
            "<!doctype html><title>says</title><script>console.log('first words'); fetch('/404')</script>",
        )
        .into_response(),
        // The headers of the request, by their names.
        "/echo" => {
            let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let seen: BTreeMap<_, _> =
                headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
            Html(serde_json::to_string(&seen).unwrap()).into_response()
        }
        // ada, love:lace
        "/private" if headers.get(AUTHORIZATION).is_some_and(|it| it == "Basic YWRhOmxvdmU6bGFjZQ==") => {
            "for your eyes".into_response()
        }
        "/private" => {
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Basic realm=\"x\"")], "who?").into_response()
        }
        // A redirect to what the query says.
        "/to" => {
            let to = uri.query().unwrap_or_default().to_owned();
            (StatusCode::FOUND, [("location", to)]).into_response()
        }
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

/// What a browser saves instead of showing it.
fn attachment(name: &str, body: String) -> Response {
    let disposition: String = format!("attachment; filename*=UTF-8''{}", percent(name));
    ([(CONTENT_DISPOSITION, disposition)], body).into_response()
}

fn percent(name: &str) -> String {
    name.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"))
}

/// A body that begins and never ends.
fn unending(begin: String) -> Body {
    let begin = stream::iter([Ok::<_, Infallible>(begin)]);
    Body::from_stream(begin.chain(stream::pending()))
}
