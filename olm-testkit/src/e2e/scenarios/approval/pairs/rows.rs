//! The pairs, and what comes of each. There are versions 1.0.0, 1.1.0 and 1.2.0, one after the other.

use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};

use super::{Row, Stage};

type Annotations = &'static [(&'static str, &'static str)];

const PINNED: (&str, &str) = (PIN, "true");
const FREE: (&str, &str) = (FIRST_INSTALL, "Automatic");
const PAUSED: (&str, &str) = (PAUSE, "true");
const BELOW_1_1: (&str, &str) = (VERSION_RANGE, "<1.1.0");
const BELOW_1_2: (&str, &str) = (VERSION_RANGE, "<1.2.0");

/// Reasons of condition `UpgradeHeld`.
const BY_PIN: &str = "Pinned";
const BY_RANGE: &str = "VersionRange";
const BY_PAUSE: &str = "Paused";

const ONE: &[&str] = &["1.0.0"];
const TWO: &[&str] = &["1.0.0", "1.1.0"];
const THREE: &[&str] = &["1.0.0", "1.1.0", "1.2.0"];

const fn row(name: &'static str, first: Stage, then: Stage) -> Row {
    Row { name, is_automatic: false, first, then }
}

/// A manifest with this `startingCSV` and these annotations, and the versions that come.
const fn stage(starting: &'static str, says: Annotations, way: &'static [&'static str]) -> Stage {
    Stage { starting, says, way, waits: None, held: None, is_refused: false }
}

/// In a namespace in which all that is installed works.
pub(super) const PAIRS: &[Row] = &[
    // What is approved besides the pinned version does not count until the pin goes.
    row(
        "pin-approve",
        stage("1.1.0", &[PINNED, (APPROVE, "pin-approve.v1.2.0")], &["1.1.0"]).held(BY_PIN),
        stage("1.1.0", &[(APPROVE, "pin-approve.v1.2.0")], &["1.1.0", "1.2.0"]),
    ),
    row(
        "pin-range",
        stage("1.1.0", &[PINNED, (VERSION_RANGE, ">=1.1.0")], &["1.1.0"]).held(BY_PIN),
        stage("1.2.0", &[PINNED, (VERSION_RANGE, ">=1.1.0")], &["1.1.0", "1.2.0"]),
    ),
    // The range counts for the pinned version and for the steps to it.
    row(
        "pin-range-outside",
        stage("1.1.0", &[PINNED, (VERSION_RANGE, ">=1.2.0")], &[]).refused(),
        stage("1.1.0", &[PINNED], &["1.1.0"]).held(BY_PIN),
    ),
    row(
        "pin-range-step",
        stage("1.0.0", &[PINNED, (VERSION_RANGE, "<1.1.0 || >=1.2.0")], ONE).held(BY_PIN),
        stage("1.2.0", &[PINNED, (VERSION_RANGE, "<1.1.0 || >=1.2.0")], ONE).refused(),
    ),
    // An approval does not widen a range, and a range approves nothing.
    row(
        "range-approve",
        stage("1.0.0", &[BELOW_1_1, (APPROVE, "range-approve.v1.0.0, range-approve.v1.1.0")], ONE)
            .held(BY_RANGE),
        stage("1.0.0", &[BELOW_1_2, (APPROVE, "range-approve.v1.0.0, range-approve.v1.1.0")], TWO)
            .held(BY_RANGE),
    ),
    row(
        "range-approve-another",
        stage(
            "1.0.0",
            &[BELOW_1_2, (APPROVE, "range-approve-another.v1.0.0, range-approve-another.v1.2.0")],
            ONE,
        )
        .waits_for("1.1.0")
        .held(BY_RANGE),
        stage(
            "1.0.0",
            &[(APPROVE, "range-approve-another.v1.1.0, range-approve-another.v1.2.0")],
            THREE,
        ),
    ),
    // A pause wins over everything, and leaves the rest as it was.
    row(
        "range-pause",
        stage("", &[BELOW_1_2, PAUSED], &[]).held(BY_PAUSE),
        stage("", &[BELOW_1_2], &[]).waits_for("1.1.0"),
    ),
    row(
        "pin-pause",
        stage("1.1.0", &[PINNED, PAUSED], &[]).held(BY_PAUSE),
        stage("1.1.0", &[PINNED, (PAUSE, "false")], &["1.1.0"]).held(BY_PIN),
    ),
    row(
        "approve-pause",
        stage("", &[PAUSED, (APPROVE, "approve-pause.v1.2.0")], &[]).held(BY_PAUSE),
        stage("", &[(APPROVE, "approve-pause.v1.2.0")], &["1.2.0"]),
    ),
    row(
        "approve-pause-later",
        stage("1.0.0", &[FREE], ONE).waits_for("1.1.0"),
        stage("1.0.0", &[FREE, PAUSED, (APPROVE, "approve-pause-later.v1.1.0")], ONE)
            .held(BY_PAUSE),
    ),
    row(
        "first-pause",
        stage("", &[FREE, PAUSED], &[]).held(BY_PAUSE),
        stage("", &[FREE], &["1.2.0"]),
    ),
    // A first install is free whatever else is said, and nothing is that comes later.
    row(
        "first-pin",
        stage("1.1.0", &[FREE, PINNED], &["1.1.0"]).held(BY_PIN),
        stage("1.1.0", &[FREE], &["1.1.0"]).waits_for("1.2.0"),
    ),
    row(
        "first-range",
        stage("1.0.0", &[FREE, BELOW_1_1], ONE).held(BY_RANGE),
        stage("1.0.0", &[FREE, BELOW_1_2], ONE).waits_for("1.1.0").held(BY_RANGE),
    ),
    row(
        "first-approve",
        stage("1.0.0", &[FREE, (APPROVE, "first-approve.v1.2.0")], ONE).waits_for("1.1.0"),
        stage("1.0.0", &[FREE, (APPROVE, "first-approve.v1.1.0, first-approve.v1.2.0")], THREE),
    ),
    row("first-later", stage("", &[], &[]).waits_for("1.2.0"), stage("", &[FREE], &["1.2.0"])),
    // Siblings.
    row("manual", stage("", &[], &[]).waits_for("1.2.0"), stage("", &[], &[]).waits_for("1.2.0")),
    Row {
        name: "automatic",
        is_automatic: true,
        first: stage("1.0.0", &[(APPROVE, "automatic.v1.0.0")], THREE),
        then: stage("1.0.0", &[FREE], THREE),
    },
];

/// Where version 1.0.0 fails, and may be left for the next one.
pub(super) const FAIL_FORWARD: &[Row] = &[
    row(
        "pin",
        stage("1.0.0", &[PINNED], ONE).held(BY_PIN),
        stage("1.1.0", &[PINNED], TWO).held(BY_PIN),
    ),
    row(
        "range",
        stage("1.0.0", &[BELOW_1_1, (APPROVE, "range.v1.0.0, range.v1.1.0")], ONE).held(BY_RANGE),
        stage("1.0.0", &[BELOW_1_2, (APPROVE, "range.v1.0.0, range.v1.1.0")], TWO).held(BY_RANGE),
    ),
    // The failed one was the first one.
    row(
        "first",
        stage("1.0.0", &[FREE], ONE).waits_for("1.1.0"),
        stage("1.0.0", &[FREE, (APPROVE, "first.v1.1.0")], TWO).waits_for("1.2.0"),
    ),
    row(
        "pause",
        stage("1.0.0", &[FREE], ONE).waits_for("1.1.0"),
        stage("1.0.0", &[FREE, PAUSED, (APPROVE, "pause.v1.1.0")], ONE).held(BY_PAUSE),
    ),
    row(
        "approve",
        stage("1.0.0", &[(APPROVE, "approve.v1.0.0")], ONE).waits_for("1.1.0"),
        stage("1.0.0", &[(APPROVE, "approve.v1.0.0, approve.v1.1.0")], TWO).waits_for("1.2.0"),
    ),
    row("manual", stage("", &[], &[]).waits_for("1.2.0"), stage("", &[], &[]).waits_for("1.2.0")),
];

/// Where the catalog does not answer at first, and does later.
pub(super) const DEAD: &[Row] = &[
    row(
        "approve",
        stage("1.0.0", &[(APPROVE, "approve.v1.0.0")], &[]).refused(),
        stage("1.0.0", &[(APPROVE, "approve.v1.0.0")], ONE).waits_for("1.1.0"),
    ),
    row(
        "first",
        stage("1.0.0", &[FREE], &[]).refused(),
        stage("1.0.0", &[FREE], ONE).waits_for("1.1.0"),
    ),
    row(
        "pin",
        stage("1.1.0", &[PINNED], &[]).refused(),
        stage("1.1.0", &[PINNED], &["1.1.0"]).held(BY_PIN),
    ),
    row(
        "range",
        stage("", &[BELOW_1_2], &[]).refused(),
        stage("", &[BELOW_1_2], &[]).waits_for("1.1.0"),
    ),
    row(
        "pause",
        stage("", &[PAUSED, FREE], &[]).held(BY_PAUSE),
        stage("", &[PAUSED, FREE], &[]).held(BY_PAUSE),
    ),
    row("manual", stage("", &[], &[]).refused(), stage("", &[], &[]).waits_for("1.2.0")),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/upgrade-policy.md says which row plays which pair.
    #[test]
    fn every_row_is_on_the_page() {
        let page = std::fs::read_to_string("../docs/upgrade-policy.md").unwrap();
        let (_, played) = page.split_once("### What plays each pair").unwrap();
        let words: Vec<&str> = played.split(['|', ',', ' ', '\n']).collect();
        for row in [PAIRS, FAIL_FORWARD, DEAD].concat() {
            assert!(words.contains(&row.name), "{} is not named", row.name);
        }
    }
}
