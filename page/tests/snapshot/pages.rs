//! The fixture pages.

use std::fmt::Write as _;

/// The page at `target`; none for what never answers.
pub(crate) fn page(target: &str, port: u16) -> Option<String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let n: usize = query.strip_prefix("n=").and_then(|n| n.parse().ok()).unwrap_or(0);
    let body = match path {
        "/never" => return None,
        "/form" => FORM.to_owned(),
        "/shadow" => SHADOW.to_owned(),
        "/clicky" => CLICKY.to_owned(),
        "/inner" => "<title>Inner</title><button>Inside</button><iframe src=/innermost title=Innermost></iframe>".into(),
        "/innermost" => "<title>Innermost</title><button>Deep inside</button><div onclick=1>Deep clicky</div>".into(),
        "/frames" => format!(
            "<title>Frames</title><button>Outside</button>
             <iframe src=/inner title=Same></iframe>
             <iframe src=http://localhost:{port}/form title=Cross></iframe>
             <iframe src=/never title=Never></iframe>
             <iframe src=http://127.0.0.1:1/ title=Broken></iframe>
             <iframe title=Blank></iframe>
             <iframe src=/form title=Hidden style='display:none'></iframe>
             <div style='height:40000px'></div><iframe src=/form loading=lazy title=Lazy></iframe>"
        ),
        "/many" => {
            let mut all = String::from("<title>Many</title>");
            for at in 0..n {
                write!(all, "<iframe id=f{at} title=f{at} srcdoc=\"<button>In frame</button>\"></iframe>").ok()?;
            }
            all
        }
        "/shot" => format!("{SHOT}<iframe id=other src=http://localhost:{port}/shot-inner {SHOT_FRAME} left:450px;transform:scale(.8)'></iframe>"),
        "/shot-inner" => SHOT_INNER.into(),
        "/golden" => GOLDEN.to_owned(),
        "/parts" => PARTS.to_owned(),
        "/three" => "<title>Three</title><main><button>A</button><button>B</button><button>C</button><a href=/form>Go</a></main>".into(),
        "/big" => {
            let mut all = String::from("<title>Big</title>");
            for at in 0..n {
                match at % 4 {
                    0 => write!(all, "<button>button {at}</button>"),
                    1 => write!(all, "<p>paragraph {at}</p>"),
                    2 => write!(all, "<a href=/form>link {at}</a>"),
                    _ => write!(all, "<div style=cursor:pointer>clicky {at}</div>"),
                }
                .ok()?;
            }
            all
        }
        "/deep" => {
            let (open, close) = ("<section aria-label=s>".repeat(n), "</section>".repeat(n));
            format!("<title>Deep</title><button>Top</button>{open}<button>Bottom</button>{close}")
        }
        _ => "<title>No</title>no such page".into(),
    };
    Some(format!("<!doctype html>{body}"))
}

/// Each of its elements is of one colour, told by its id.
const SHOT: &str = r"<title>Shot</title><style>body{margin:0;background:white;height:3000px}button{position:absolute;border:0;padding:0}</style>
<button id=top style='left:40px;top:60px;width:100px;height:40px;background:#0f0'></button>
<button id=low style='left:300px;top:2000px;width:120px;height:50px;background:#f0f'></button>
<button id=turned style='left:600px;top:60px;width:100px;height:40px;background:#00f;transform:rotate(90deg)'></button>
<button id=fixed style='position:fixed;left:10px;top:10px;width:20px;height:20px;background:#ff0'></button>
<button id=none style='display:none'></button>
<div style='position:absolute;left:300px;top:60px;width:100px;height:60px;overflow:auto'><div style='height:400px'></div>
<button id=scrolled style='position:static;width:60px;height:30px;background:#0ff'></button><div style='height:400px'></div></div>
<iframe id=same src=/shot-inner style='position:absolute;top:200px;width:300px;height:250px;border:5px solid;padding:7px;left:100px'></iframe>";
const SHOT_FRAME: &str =
    "style='position:absolute;top:200px;width:300px;height:250px;border:5px solid;padding:7px;";
const SHOT_INNER: &str = r"<title>Inner</title><style>body{margin:0;height:1500px}button{position:absolute;border:0;padding:0;background:#f80}</style>
<button id=in style='left:33px;top:444px;width:120px;height:40px'></button>
<button id=far style='left:33px;top:1100px;width:120px;height:40px;background:#08f'></button><script>scrollTo(0,300)</script>";

const FORM: &str = r#"<title>Form</title><h1>Head</h1>
<button>Save</button><button>Save</button><button disabled>Off</button>
<a href="/three">Three</a>
<input aria-label="Name" value="Ada"><input type=password aria-label="Secret" value="geheim">
<input type=checkbox checked aria-label="Agree"><select aria-label="Pick"><option>One<option selected>Two</select>
<button aria-pressed=mixed>Half</button><input aria-label=Wrong aria-invalid=true>"#;

const SHADOW: &str = r#"<title>Shadow</title><x-open></x-open><x-closed></x-closed>
<div role=list id=owner aria-owns=owned aria-label=Owner></div><p>between</p><div role=listitem id=owned aria-label=Owned>mine</div>
<script>
const fill = (tag, mode) => document.querySelector(tag).attachShadow({mode}).innerHTML =
  `<button>${mode} button</button><span style="cursor:pointer">${mode} clicky</span>`;
fill('x-open', 'open'); fill('x-closed', 'closed');
</script>"#;

const CLICKY: &str = r#"<title>Clicky</title><div id=app><button>Real</button></div>
<div onclick="1" style="cursor:pointer">By attribute</div>
<p>text <span style="cursor:pointer">by <b>style</b></span> more</p>
<div id=listens>By listener</div><div tabindex=0>By tab</div><div contenteditable>By editing</div>
<label><input type=radio style="display:none">By label</label>
<span id=icon style="cursor:pointer;display:inline-block;width:9px;height:9px"></span>
<div style="cursor:pointer;visibility:hidden">Not seen</div>
<button>Own<span style="cursor:pointer">part</span></button>
<script>listens.addEventListener('click', () => 1); app.addEventListener('click', () => 1)</script>"#;

const PARTS: &str = r#"<title>Parts</title><nav aria-label=Top><a href=/three>Three</a><a href=/form>Form</a></nav>
<main><h1>Head</h1><div><div><button>Save</button></div></div>
<section id=second aria-label=Second><p>Some <b>bold</b> text</p><div><button>Save</button></div></section>
<ul><li><span id=plain><a href=/deep>In a span</a></span></li></ul><div style="cursor:pointer">Clicky</div></main>"#;

const GOLDEN: &str = r#"<title>Golden</title><nav aria-label=Top><a href=/three>Three</a><a href=/three>Three</a></nav>
<main><h1>Head "quoted"</h1><p>Some <b>bold</b> text: yes</p>
<form aria-label=Form><input aria-label=Name value=Ada placeholder="Your name"><input type=checkbox checked aria-label=Agree>
<select aria-label=Pick><option>One<option selected>Two</select><button disabled>Off</button><button aria-expanded=true>More</button></form>
<ul><li>First</li><li><a href=/form>Second</a></li></ul><table><tr><th>Key<td>Value</table>
<div style="cursor:pointer" onclick=1>Clicky</div><iframe title=Inner srcdoc="<title>In</title><button>Save</button><div tabindex=0>Reach</div>"></iframe></main>"#;
