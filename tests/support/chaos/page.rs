//! The page that everything happens to, and what it has seen.

use serde::Deserialize;
use std::collections::HashMap;
use tabvisor::Tab;

use super::super::secs;

pub const BUTTONS: usize = 4;
pub const INPUTS: usize = 2;

/// Counts what is trusted, in the window's own listeners, before any other.
pub const BODY: &str = r"<title>chaos</title>
<button id=b0>Zero</button><button id=b1>One</button><button id=b2>Two</button><button id=b3>Three</button>
<button id=asks>Asks</button><input id=f0 aria-label=F0><textarea id=f1 aria-label=F1></textarea>
<input type=checkbox id=box aria-label=Box>
<select id=choice aria-label=Choice><option>a<option>b<option>c</select>
<script>
window.seen = { document: crypto.getRandomValues(new Uint32Array(1))[0], clicks: {}, enters: 0 };
addEventListener('click', e => { if (e.isTrusted) seen.clicks[e.target.id] = (seen.clicks[e.target.id] || 0) + 1 }, true);
addEventListener('keydown', e => { if (e.isTrusted && e.keyCode === 13) seen.enters += 1 }, true);
document.getElementById('asks').onclick = () => confirm('really?');
</script>";

const ASK: &str = "(() => { const at = id => document.getElementById(id); return { ...seen,
    texts: ['f0', 'f1'].map(id => at(id).value), checked: at('box').checked, chosen: at('choice').value } })()";

/// What the page has seen.
#[derive(Clone, Debug, Deserialize)]
pub struct Seen {
    pub document: u32,
    pub clicks: HashMap<String, u32>,
    pub enters: u32,
    pub texts: [String; INPUTS],
    pub checked: bool,
    pub chosen: String,
}

impl Seen {
    pub fn clicks_on(&self, id: &str) -> u32 {
        self.clicks.get(id).copied().unwrap_or_default()
    }
}

/// Asks the page, if it answers.
pub async fn seen(tab: &Tab) -> Option<Seen> {
    tab.evaluate(ASK).within(secs(5)).await.ok()?.read().ok()
}
