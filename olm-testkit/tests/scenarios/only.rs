//! Which scenarios are played: all, or those that a change concerns.

use libtest_mimic::Trial;

/// Beginnings of names, with commas between them; `cargo xtask test` sets it for `--changed` and
/// `--scenarios`.
const VARIABLE: &str = "OLM_SCENARIOS";

/// Leaves the others out; says whether any was.
pub fn keep(trials: &mut Vec<Trial>) -> bool {
    let Ok(only) = std::env::var(VARIABLE) else { return false };
    let all = trials.len();
    trials.retain(|trial| only.split(',').any(|beginning| trial.name().starts_with(beginning)));
    trials.len() < all
}

/// Whether this very scenario is asked for by its whole name.
pub fn names(scenario: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|only| only.split(',').any(|name| name == scenario))
}
