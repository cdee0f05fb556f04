//! Giving files to a page by their bytes, for a Chromium that sees none of our files.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use tabvisor_cdp::budget::Budget;

use super::error::ActError;
use super::files::LocalFile;
use super::node::Node;

/// Bytes of a message; few enough that other messages of the link do not wait long behind it.
const PART: usize = 512 << 10;

// What arrived so far is kept in our world, which the page does not see.
const BEGIN: &str = "()=>{globalThis.given=[];return true}";
const NEXT: &str = "(it,{name,type,modified})=>{given.push({name,type,modified,parts:[]});return true}";
const MORE: &str = "(it,{part})=>{
    const text=atob(part),bytes=new Uint8Array(text.length);
    for(let at=0;at<text.length;at++)bytes[at]=text.charCodeAt(at);
    given.at(-1).parts.push(bytes);
    return true}";
const END: &str = "const handOver=it=>{
    const{el}=fieldOf(it),all=new DataTransfer();
    for(const{name,type,modified,parts}of given)all.items.add(new File(parts,name,{type,lastModified:modified}));
    globalThis.given=[];
    el.files=all.files;
    for(const type of['input','change'])el.dispatchEvent(new Event(type,{bubbles:true,composed:type==='input'}));
    return true};";

/// Sends the bytes of `files` into the page and makes them the files of the input.
///
/// # Errors
/// Every [`ActError`]; nothing of the page has changed until all bytes are there.
pub(super) async fn transfer(node: &Node, files: &[LocalFile], budget: &Budget) -> Result<(), ActError> {
    let _: bool = node.call(BEGIN, Value::Null, budget).await?;
    for LocalFile { path, seen } in files {
        let broken = |why: std::io::Error| ActError::Invalid {
            field: "paths",
            why: format!("{:?} could not be read: {why}", path.display().to_string()),
        };
        let mut file = tokio::fs::File::open(path).await.map_err(broken)?;
        let modified = file.metadata().await.ok().and_then(|about| about.modified().ok());
        let modified = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.map_or(0.0, |since| (since.as_secs_f64() * 1e3).floor());
        let about = json!({ "name": seen.name, "type": kind_of(path), "modified": modified });
        let _: bool = node.call(NEXT, about, budget).await?;
        let mut bytes = vec![0; PART];
        loop {
            let mut filled = 0;
            while filled < PART {
                match file.read(&mut bytes[filled..]).await.map_err(broken)? {
                    0 => break,
                    more => filled += more,
                }
            }
            if filled == 0 {
                break;
            }
            let part = json!({ "part": STANDARD.encode(&bytes[..filled]) });
            let _: bool = node.call(MORE, part, budget).await?;
        }
    }
    let done: Result<bool, _> = node.ask_with(END, "handOver", Value::Null, budget).await;
    done.map(drop).map_err(ActError::after_sending)
}

/// What Chromium would say of a file with this name, for kinds that pages look at.
fn kind_of(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "bin" | "exe" => "application/octet-stream",
        "csv" => "text/csv",
        "txt" | "text" | "log" => "text/plain",
        "htm" | "html" => "text/html",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "xml" => "text/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_go_by_the_ending_whatever_its_case() {
        assert_eq!(kind_of(Path::new("/a/B.PNG")), "image/png");
        assert_eq!(kind_of(Path::new("/a/no-ending")), "");
    }
}
