//! What the printed reports share.
#![allow(missing_docs, dead_code, unreachable_pub, reason = "each bench uses a part of it")]

/// The value below which the part `q` of `values` lies; sorts them.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let index = ((values.len() - 1) as f64 * q).round() as usize;
    values[index]
}

/// `cargo test --benches` only wants to know that a bench starts.
pub fn only_a_test() -> bool {
    std::env::args().any(|argument| argument == "--test")
}
