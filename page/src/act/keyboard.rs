//! The keyboard: keys go down and up, and nothing stays pressed.

use std::time::Duration;

use serde_json::{Value, json};

use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Reply, Session};

use super::chord::{Chord, Modifier};
use super::keys::Key;

/// The keyboard of a page. It goes to what has the focus, in whatever frame.
pub(super) struct Keyboard {
    session: Session,
    /// What is down, to let go of.
    down: Vec<(Key, u8)>,
    /// Something was sent.
    pub(super) sent: bool,
}

impl Keyboard {
    pub(super) fn new(session: &Session) -> Self {
        Self { session: session.clone(), down: Vec::new(), sent: false }
    }

    /// Presses a chord: what is held goes down before its key and up after it.
    pub(super) async fn chord(&mut self, chord: &Chord, hold_for: Duration) -> Result<(), CdpError> {
        let mut replies = Vec::new();
        let mut bits = 0;
        for modifier in &chord.modifiers {
            bits |= modifier.held().bits();
            replies.push(self.press(modifier.key(), bits, None).await?);
        }
        replies.push(self.press(chord.key, chord.held().bits(), chord.text()).await?);
        if !hold_for.is_zero() {
            hear(&mut replies).await?;
            tokio::time::sleep(hold_for).await;
        }
        while let Some((key, bits)) = self.down.pop() {
            replies.push(self.release(key, bits).await?);
        }
        hear(&mut replies).await
    }

    /// Presses the key of a character, or enters it as text if no key has it.
    pub(super) async fn character(&mut self, character: char) -> Result<(), CdpError> {
        match Key::of_char(character) {
            Some(key) => self.chord(&Chord { modifiers: Vec::new(), key }, Duration::ZERO).await,
            None => self.text(character.encode_utf8(&mut [0; 4])).await,
        }
    }

    /// Enters text as an input method does.
    pub(super) async fn text(&mut self, text: &str) -> Result<(), CdpError> {
        self.sent = true;
        self.session.send("Input.insertText", json!({ "text": text })).await?.await.map(drop)
    }

    async fn press(&mut self, key: Key, bits: u8, text: Option<&str>) -> Result<Reply, CdpError> {
        let mut params = params(if text.is_some() { "keyDown" } else { "rawKeyDown" }, key, bits);
        if let Some(text) = text {
            params["text"] = json!(text);
            params["unmodifiedText"] = json!(text);
        }
        self.sent = true;
        self.down.push((key, bits));
        self.session.send("Input.dispatchKeyEvent", params).await
    }

    async fn release(&mut self, key: Key, bits: u8) -> Result<Reply, CdpError> {
        // A modifier that goes up is no longer held.
        let own = Modifier::read(key.key, false).map_or(0, |it| it.held().bits());
        self.session.send("Input.dispatchKeyEvent", params("keyUp", key, bits & !own)).await
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        while let Some((key, bits)) = self.down.pop() {
            self.session.cast("Input.dispatchKeyEvent", params("keyUp", key, bits));
        }
    }
}

fn params(kind: &str, key: Key, bits: u8) -> Value {
    json!({
        "type": kind, "key": key.key, "code": key.code, "windowsVirtualKeyCode": key.key_code,
        "location": key.location, "isKeypad": key.location == 3, "modifiers": bits,
    })
}

async fn hear(replies: &mut Vec<Reply>) -> Result<(), CdpError> {
    for reply in replies.drain(..) {
        reply.await?;
    }
    Ok(())
}
