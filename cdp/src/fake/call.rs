//! A command as the fake got it.

use serde_json::Value;

/// One command, as it came over a socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which socket: 1 for the first that finished its handshake, and so on.
    pub conn: u64,
    /// The `sessionId` it came with.
    pub session: Option<String>,
    /// The target of its session, or of its page socket.
    pub target: Option<String>,
    /// E.g. `Runtime.evaluate`.
    pub method: String,
    /// Its parameters; an empty object when it came with none.
    pub params: Value,
    /// Its id.
    pub id: u64,
}

impl Call {
    /// A parameter; `null` when it is absent.
    pub fn param(&self, name: &str) -> &Value {
        self.params.get(name).unwrap_or(&Value::Null)
    }

    /// A parameter that is a string; empty when it is absent or something else.
    pub fn text(&self, name: &str) -> &str {
        self.param(name).as_str().unwrap_or_default()
    }

    /// The script of a `Runtime.evaluate`, or the function of a `Runtime.callFunctionOn`; empty
    /// for other commands.
    pub fn expression(&self) -> &str {
        match self.text("expression") {
            "" => self.text("functionDeclaration"),
            script => script,
        }
    }
}
