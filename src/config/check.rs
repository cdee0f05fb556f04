//! Which values make sense.

use std::ops::RangeInclusive;

use super::{Config, ConfigError, Secret};

/// Counts: the largest ones are far beyond any machine, and below what would overflow.
const COUNTS: RangeInclusive<u64> = 1..=1_000_000;
/// Sizes in bytes, up to a tebibyte.
const BYTES: RangeInclusive<u64> = 1..=1 << 40;
/// Times in ms, up to a day.
const TIMES: RangeInclusive<u64> = 1..=86_400_000;
/// Times that may be none.
const PAUSES: RangeInclusive<u64> = 0..=86_400_000;

impl Config {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// [`ConfigError`] naming the first key whose value does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { limits, budgets, care, browser, files, server, .. } = self;
        for (key, value) in [
            ("limits.tabs", limits.tabs),
            ("limits.popups_per_tab", limits.popups_per_tab),
            ("limits.actions_per_tab", limits.actions_per_tab),
            ("limits.evaluates_per_tab", limits.evaluates_per_tab),
            ("limits.evaluates_per_browser", limits.evaluates_per_browser),
            ("limits.dials", limits.dials),
            ("limits.event_lag", limits.event_lag),
        ] {
            within(key, value as u64, COUNTS)?;
        }
        within("limits.spare_links", limits.spare_links as u64, 0..=*COUNTS.end())?;
        for (key, value) in [
            ("limits.max_frame_bytes", limits.max_frame_bytes),
            ("limits.max_script_bytes", limits.max_script_bytes),
            ("limits.max_result_bytes", limits.max_result_bytes),
            ("server.max_body_bytes", server.max_body_bytes),
        ] {
            within(key, value as u64, BYTES)?;
        }
        within("limits.max_budget_ms", limits.max_budget_ms, TIMES)?;
        within("budgets.start_ms", budgets.start_ms, TIMES)?;
        // Over the maximum, every call that brings no budget of its own would be refused.
        for (key, value) in [
            ("budgets.evaluate_ms", budgets.evaluate_ms),
            ("budgets.navigate_ms", budgets.navigate_ms),
            ("budgets.snapshot_ms", budgets.snapshot_ms),
            ("budgets.wait_ms", budgets.wait_ms),
            ("budgets.action_ms", budgets.action_ms),
        ] {
            within(key, value, 1..=limits.max_budget_ms)?;
        }
        for (key, folder) in [("files.uploads", &files.uploads), ("files.downloads", &files.downloads)] {
            if folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
                return Err(ConfigError::invalid(key, "must be an absolute path"));
            }
        }
        within("files.max_transfer_bytes", files.max_transfer_bytes, 0..=1 << 30)?;
        within("care.stuck_after_ms", care.stuck_after_ms, TIMES)?;
        within("browser.stop_grace_ms", browser.stop_grace_ms, PAUSES)?;
        within("browser.renderer_process_limit", browser.renderer_process_limit.into(), COUNTS)?;
        for side in [browser.window_size.0, browser.window_size.1] {
            within("browser.window_size", side.into(), 1..=65_535)?;
        }
        within("server.drain_ms", server.drain_ms, PAUSES)?;
        within("server.event_streams", server.event_streams as u64, COUNTS)?;
        within("server.connections", server.connections as u64, COUNTS)?;
        within("server.head_timeout_ms", server.head_timeout_ms, TIMES)?;
        self.check_profiles()?;
        if server.hosts.iter().any(|host| host.is_empty() || host.contains([',', '/', ' ', '*', '@'])) {
            return Err(ConfigError::invalid(
                "server.hosts",
                "takes host names, without scheme and wildcard",
            ));
        }
        if let Some(Err(why)) = server.token.as_ref().map(Secret::check) {
            return Err(ConfigError::invalid("server.token", why));
        }
        if server.token.is_some() && server.token_file.is_some() {
            return Err(ConfigError::invalid("server.token_file", "is given beside server.token; give one"));
        }
        if server.no_auth && !server.listen.ip().to_canonical().is_loopback() {
            let why = format!(
                "works on loopback addresses only, and server.listen is {}; drop it, or listen on 127.0.0.1",
                server.listen
            );
            return Err(ConfigError::invalid("server.no_auth", why));
        }
        Ok(())
    }
}

fn within(key: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), ConfigError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let why = format!("must be from {} to {}, got {value}", allowed.start(), allowed.end());
    Err(ConfigError::invalid(key, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(change: impl Fn(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn defaults_make_sense() {
        Config::default().check().unwrap();
    }

    #[test]
    fn what_would_overflow_or_never_work_is_named() {
        assert_eq!(why(|it| it.limits.tabs = 0), "limits.tabs: must be from 1 to 1000000, got 0");
        assert!(why(|it| it.limits.evaluates_per_tab = usize::MAX).starts_with("limits.evaluates_per_tab: "));
        assert!(why(|it| it.limits.max_budget_ms = u64::MAX).starts_with("limits.max_budget_ms: "));
        assert_eq!(
            why(|it| it.budgets.evaluate_ms = 120_001),
            "budgets.evaluate_ms: must be from 1 to 120000, got 120001"
        );
        assert!(why(|it| it.server.hosts = vec!["http://a".into()]).starts_with("server.hosts: "));
        assert!(why(|it| it.server.token = Some("a b".into())).starts_with("server.token: must be"));
    }

    #[test]
    fn without_authentication_it_listens_on_loopback_only() {
        let mut config = Config::default();
        config.server.no_auth = true;
        config.check().unwrap();
        config.server.listen = "0.0.0.0:9377".parse().unwrap();
        let why = config.check().unwrap_err().to_string();
        assert!(why.starts_with("server.no_auth: works on loopback addresses only"), "{why}");
    }
}
