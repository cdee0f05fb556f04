//! What an origin may do without asking anybody.
//!
//! They are the browser process's: granting them waits for no renderer.

use serde::Serialize;
use serde_json::json;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;
use url::Url;

/// What was granted, and what Chromium does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    /// The origin that has them now.
    pub origin: String,
    /// By the names that were given.
    pub granted_permissions: Vec<String>,
    /// These are none.
    pub unsupported_permissions: Vec<String>,
}

/// The origin of an http or https address.
///
/// # Errors
/// What is wrong with it.
pub fn origin(text: &str) -> Result<String, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "is no address")?;
    match url.scheme() {
        "http" | "https" => Ok(url.origin().ascii_serialization()),
        _ => Err("must be an http or https address"),
    }
}

/// Grants each permission for itself, so that one that is not known takes no other with it.
///
/// # Errors
/// Every [`CdpError`] but a refusal.
pub async fn grant(
    session: &Session,
    origin: &str,
    permissions: &[String],
    budget: &Budget,
) -> Result<Granted, CdpError> {
    let mut granted = Granted { origin: origin.to_owned(), ..Granted::default() };
    for name in permissions {
        let permission = json!({ "permission": { "name": as_the_web_says(name) }, "setting": "granted", "origin": origin });
        match session.call("Browser.setPermission", permission, budget).await {
            Ok(_) => granted.granted_permissions.push(name.clone()),
            Err(CdpError::Protocol { .. }) => granted.unsupported_permissions.push(name.clone()),
            Err(other) => return Err(other),
        }
    }
    Ok(granted)
}

/// Chromium's protocol has other names for some of them (`clipboardReadWrite`, `videoCapture`).
fn as_the_web_says(name: &str) -> &str {
    match name {
        "clipboardReadWrite" => "clipboard-read",
        "clipboardSanitizedWrite" => "clipboard-write",
        "videoCapture" => "camera",
        "audioCapture" => "microphone",
        "midiSysex" => "midi",
        "backgroundSync" => "background-sync",
        "storageAccess" => "storage-access",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_an_address_begins_with() {
        assert_eq!(origin(" https://a.example:8443/x?y "), Ok("https://a.example:8443".into()));
        assert!(origin("about:blank").is_err() && origin("a.example").is_err());
    }
}
