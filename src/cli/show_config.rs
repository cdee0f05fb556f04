//! `config`: the effective configuration, and where each value came from.

use std::process::ExitCode;

use serde_json::Value;
use tabvisor::config::Loaded;

use super::output::{self, clean, table};

pub(super) fn show(loaded: &Loaded, json: bool) -> ExitCode {
    let rows = loaded.rows();
    if json {
        output::line(&serde_json::to_string(&rows).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let row = |key: &str, value: &Value, source: &str| {
        let value = if value.is_null() { "-".into() } else { value.to_string() };
        [key.to_owned(), clean(&value), source.to_owned()]
    };
    let head = ["KEY", "VALUE", "FROM"].map(str::to_owned);
    let rows: Vec<_> = rows.iter().map(|it| row(&it.key, &it.value, &it.source)).collect();
    output::line(&table(&[vec![head], rows].concat()));
    ExitCode::SUCCESS
}
