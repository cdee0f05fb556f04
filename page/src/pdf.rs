//! A page as a PDF.
//!
//! It comes as a stream that is read in pieces, so that no message is large however long the
//! document is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::Session;

/// Bytes of a piece.
const PIECE: usize = 512 << 10;
/// Largest document.
const LARGEST: usize = 256 << 20;

/// Why there is no PDF.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// This browser makes none; with windows, some versions do not.
    #[error("this browser makes no PDFs: {0}")]
    Unsupported(String),
    /// It is over the limit.
    #[error("the PDF is over {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The link or Chromium failed.
    #[error(transparent)]
    Link(#[from] CdpError),
}

#[derive(Deserialize)]
struct Printed {
    stream: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    data: String,
    #[serde(default)]
    base64_encoded: bool,
    eof: bool,
}

/// Prints the page of `session` with its backgrounds.
///
/// # Errors
/// Every [`PdfError`].
pub async fn print(session: &Session, budget: &Budget) -> Result<Vec<u8>, PdfError> {
    let asked = json!({ "transferMode": "ReturnAsStream", "printBackground": true });
    let printed: Printed = session.call_as("Page.printToPDF", asked, budget).await.map_err(|error| {
        match &error {
            // "PrintToPDF is not implemented", "Printing is not available".
            CdpError::Protocol { message, .. }
                if message.contains("not implemented") || message.contains("not available") =>
            {
                PdfError::Unsupported(message.clone())
            }
            _ => error.into(),
        }
    })?;
    let read = read(session, &printed.stream, budget).await;
    session.cast("IO.close", json!({ "handle": printed.stream }));
    read
}

async fn read(session: &Session, stream: &str, budget: &Budget) -> Result<Vec<u8>, PdfError> {
    let bad = |why: String| CdpError::BadReply { method: "IO.read".into(), why };
    let mut document = Vec::new();
    loop {
        let asked = json!({ "handle": stream, "size": PIECE });
        let piece: Piece = session.call_as("IO.read", asked, budget).await?;
        if piece.base64_encoded {
            let bytes = STANDARD.decode(&piece.data).map_err(|why| bad(why.to_string()))?;
            document.extend_from_slice(&bytes);
        } else {
            document.extend_from_slice(piece.data.as_bytes());
        }
        if document.len() > LARGEST {
            return Err(PdfError::TooLarge { limit: LARGEST });
        }
        if piece.eof {
            return Ok(document);
        }
    }
}
