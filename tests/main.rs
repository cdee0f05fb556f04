//! End-to-end tests, on a real Chromium unless they say otherwise.
//!
//! One program: linking one for every file takes longer than running them. Every test has a Chromium of
//! its own; `cargo nextest run -p tabvisor FILE::` runs those of a file.

mod bad_input;
mod cancel;
mod chaos;
mod chrome_facts;
mod cli;
mod cli_state;
mod cli_verbs;
mod console;
mod deploy;
mod faults;
mod hard_times;
mod headed;
mod http;
mod http_act;
mod http_batch;
mod http_cancel;
mod http_dialogs;
mod http_events;
mod http_files;
mod http_history;
mod http_lifecycle;
mod http_limits;
mod http_observe;
mod http_pages;
mod http_popups;
mod http_recovery;
mod http_screenshot;
mod http_shapes;
mod http_snapshot;
mod http_state;
mod http_wait;
mod known_traps;
mod logs;
mod loss;
mod mcp;
mod mcp_http;
mod mcp_process;
mod mcp_refusals;
mod mcp_tabs;
mod mcp_tools;
mod metrics;
mod navigation_policy;
mod own_script_pays;
mod recovery;
mod remote;
mod reopen;
mod service;
mod stalls;
mod stuck_at_load;
mod support;
mod surfaces;
mod twins;
