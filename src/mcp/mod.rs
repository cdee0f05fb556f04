//! The MCP tools: what an agent can do with tabs, told as the page saw it.
//!
//! The tools do nothing by themselves: each reads its arguments, makes one call of the supervision tree, and
//! puts what came of it into the shape that all share. Whatever is wrong with a call or a page is told in a
//! result; the protocol's own errors are for what no tool is there for.
//!
//! | file | holds |
//! |---|---|
//! | `home` | the browser that the tools work on |
//! | `connection` | the sessions of a connection, and which tabs go with it |
//! | `server`, `progress` | from a request to a call and back; news of what takes long |
//! | `stdio`, `http` | the transports |
//! | `catalog`, `schema`, `args` | which tools there are; their arguments, checked and read |
//! | `call`, `tools` | one call; what each tool does |
//! | `envelope`, `failure`, `codes` | what is told: the shape, of failures, and the table of codes |
//! | `outline` | parts of the text of a page |

mod args;
mod call;
mod catalog;
mod codes;
mod connection;
mod envelope;
mod failure;
mod home;
mod http;
mod outline;
mod progress;
mod schema;
mod server;
mod stdio;
mod tools;

pub use home::Home;
pub use http::service;
pub use server::Server;
pub use stdio::serve;
