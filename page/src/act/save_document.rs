//! Saving the document that a page shows.

use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::node::Node;
use super::outcome::{Effect, Observed, Outcome, Route};
use super::page::ActPage;
use super::target::Target;

// The link is never in the document, so the page does not see it.
const SAVE: &str = "(it,{expected})=>{
    if(location.href!==expected)return{found:location.href};
    const link=document.createElement('a');
    link.href=location.href;
    link.download='';
    HTMLElement.prototype.click.call(link);
    return{}}";

#[derive(Deserialize)]
struct Said {
    found: Option<String>,
}

/// Has the browser download the address of the document, if it is `expected`; gives the address
/// that it is instead.
///
/// # Errors
/// Every [`ActError`].
pub async fn save_document(
    page: &ActPage,
    expected: &str,
    budget: &Budget,
) -> Result<Result<Outcome, String>, ActError> {
    let node = Node::find(page, &Target::Css(":root".into()), budget).await?;
    let said: Said = node.call(SAVE, json!({ "expected": expected }), budget).await?;
    Ok(match said.found {
        Some(found) => Err(found),
        None => {
            Ok(Outcome { effect: Effect::Unverifiable, route: Route::Page, observed: Observed::default() })
        }
    })
}
