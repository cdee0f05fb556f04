//! The mouse: its steps in order, and no button left pressed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use tabvisor_cdp::error::CdpError;
use tabvisor_cdp::link::{Reply, Session};

use super::modifiers::Modifiers;
use super::target::Point;

/// A button of the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// The first.
    #[default]
    Left,
    /// The one in the middle.
    Middle,
    /// The second.
    Right,
}

impl Button {
    /// Its bit among the pressed buttons.
    fn bit(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

/// What the mouse does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Move(Point),
    /// The how manieth in a row.
    Press(u8),
    Release(u8),
    /// Once what came before is done.
    Wait(Duration),
}

/// The mouse of a page. Dropped with a button down, it lets go of it.
pub(super) struct Mouse {
    session: Session,
    button: Button,
    modifiers: Modifiers,
    at: Point,
    down: Option<u8>,
    /// Something was sent.
    pub(super) sent: bool,
}

impl Mouse {
    pub(super) fn new(session: &Session, button: Button, modifiers: Modifiers) -> Self {
        Self { session: session.clone(), button, modifiers, at: Point::default(), down: None, sent: false }
    }

    /// Plays `steps`: all that no wait separates is sent at once, so that nothing comes between.
    pub(super) async fn play(&mut self, steps: &[Step]) -> Result<(), CdpError> {
        let mut replies: Vec<Reply> = Vec::new();
        for step in steps {
            if let Step::Wait(time) = step {
                hear(&mut replies).await?;
                tokio::time::sleep(*time).await;
                continue;
            }
            let params = self.params(step);
            self.sent = true;
            replies.push(self.session.send("Input.dispatchMouseEvent", params).await?);
        }
        hear(&mut replies).await
    }

    fn params(&mut self, step: &Step) -> Value {
        let (kind, count) = match *step {
            Step::Move(to) => {
                self.at = to;
                ("mouseMoved", 0)
            }
            Step::Press(count) => {
                self.down = Some(count);
                ("mousePressed", count)
            }
            Step::Release(count) => {
                self.down = None;
                ("mouseReleased", count)
            }
            Step::Wait(_) => ("", 0),
        };
        let button = if kind == "mouseMoved" && self.down.is_none() { "none" } else { self.button_name() };
        json!({
            "type": kind, "x": self.at.x, "y": self.at.y, "button": button, "clickCount": count,
            "buttons": if self.down.is_some() { self.button.bit() } else { 0 },
            "modifiers": self.modifiers.bits(), "pointerType": "mouse",
        })
    }

    fn button_name(&self) -> &'static str {
        match self.button {
            Button::Left => "left",
            Button::Middle => "middle",
            Button::Right => "right",
        }
    }
}

impl Drop for Mouse {
    fn drop(&mut self) {
        if let Some(count) = self.down {
            let release = self.params(&Step::Release(count));
            self.session.cast("Input.dispatchMouseEvent", release);
        }
    }
}

async fn hear(replies: &mut Vec<Reply>) -> Result<(), CdpError> {
    for reply in replies.drain(..) {
        reply.await?;
    }
    Ok(())
}
