//! What is told of one opening of a dialog.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use super::Dialog;

/// Who closed a dialog.
///
/// Clients know three words, so a policy counts as armed, and what went away as remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClosedBy {
    /// Answered through us.
    Agent,
    /// An answer that was armed before it opened.
    Armed,
    /// The policy of its tab.
    #[serde(rename = "armed")]
    Policy,
    /// A person or another client.
    Remote,
    /// Its page went away, or the watcher lost sight of it.
    #[serde(rename = "remote")]
    Lost,
}

/// One opening of a dialog, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogRecord {
    /// Which one.
    #[serde(flatten)]
    pub dialog: Dialog,
    /// When.
    #[serde(serialize_with = "iso")]
    pub opened_at: SystemTime,
    /// When it went away.
    #[serde(serialize_with = "iso_if_any", skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<SystemTime>,
    /// Who closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<ClosedBy>,
    /// Whether it was accepted, if Chromium told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
    /// How many more like it came at once and were answered by the policy; they have no records
    /// of their own.
    #[serde(skip_serializing_if = "is_zero")]
    pub repeated: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::ref_option, reason = "serde calls it")]
fn iso_if_any<S: Serializer>(time: &Option<SystemTime>, to: S) -> Result<S::Ok, S::Error> {
    iso(&time.unwrap_or(UNIX_EPOCH), to)
}

pub(crate) fn iso<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&iso8601(*time))
}

/// `2026-01-31T12:00:00.000Z`, as `Date.toISOString` writes it. A time before 1970 is 1970.
fn iso8601(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Eras of 400 years that begin in March, so that the leap day is a year's last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let (second, ms) = (second % 60, since.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_clients_expect() {
        let written = |ms| iso8601(UNIX_EPOCH + Duration::from_millis(ms));
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(written(951_868_799_999), "2000-02-29T23:59:59.999Z");
        assert_eq!(written(1_798_761_599_001), "2026-12-31T23:59:59.001Z");
        assert_eq!(written(1_798_761_600_000), "2027-01-01T00:00:00.000Z");
        assert_eq!(written(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }
}
