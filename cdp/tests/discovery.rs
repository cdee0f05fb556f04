//! Finding and dialling browsers, against small servers in this process. Nothing leaves the
//! machine, and no environment variable is touched.
#![allow(clippy::unwrap_used, reason = "functions that tests share may, as tests do")]

#[path = "discovery/dialling.rs"]
mod dialling;
#[path = "discovery/finding.rs"]
mod finding;
#[path = "discovery/port_files.rs"]
mod port_files;
#[path = "discovery/remote.rs"]
mod remote;
#[path = "discovery/servers.rs"]
mod servers;
