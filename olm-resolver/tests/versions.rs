//! What Subscriptions declare about versions: `olm-rs.dev/pin` and `olm-rs.dev/version-range`.

use olm_resolver::{Policy, ResolutionOutcome, Resolver};
use rstest::rstest;

use crate::support::{Problem, answer, failure};

/// One channel, in which each version follows the one before.
const CHANNEL: &str = "
    a.v1@1.0.0 a/alpha
    a.v2@2.0.0 a/alpha ->a.v1
    a.v3@3.0.0 a/alpha ->a.v2
    a.v4@4.0.0 a/alpha ->a.v3
    a.v5@5.0.0-rc.1 a/alpha ->a.v4";

/// One in which v4 follows anything from 2.0.0 on.
const JUMPS: &str = "
    a.v1@1.0.0 a/alpha
    a.v2@2.0.0 a/alpha ->a.v1
    a.v3@3.0.0 a/alpha ->a.v2
    a.v4@4.0.0 a/alpha ->a.v3 range:>=2.0.0_<4.0.0
    a.v5@5.0.0 a/alpha ->a.v4";

fn installs(channel: &str, namespace: &str) -> String {
    answer(&format!("{channel}\n    {namespace}"))
}

fn installed(version: u8, channel: &str, words: &str) -> String {
    let namespace =
        format!("csv a.v{version}@{version}.0.0 of:a\n    sub a a/alpha is:a.v{version} {words}");
    installs(channel, &namespace)
}

fn outcome(channel: &str, namespace: &str) -> ResolutionOutcome {
    let problem = Problem::read(&format!("{channel}\n    {namespace}"));
    problem.outcome(&Resolver::default(), Policy::Isolated)
}

#[rstest]
#[case::newest_of_it("range:<3.0.0", "a.v2")]
#[case::as_olm_v1_writes_it("range:>=1.0.0,<4", "a.v3")]
#[case::no_prerelease("range:*", "a.v4")]
#[case::a_prerelease("range:>=5.0.0-rc.0", "a.v5")]
#[case::from_a_version_on("range:<3 start:a.v1", "a.v1")]
fn a_new_subscription_gets_a_version_of_its_range(#[case] words: &str, #[case] expected: &str) {
    assert_eq!(installs(CHANNEL, &format!("sub a a/alpha {words}")), expected);
}

#[rstest]
#[case::inside(1, "range:<3.0.0", "a.v2")]
#[case::at_its_end(2, "range:<3.0.0", "")]
#[case::what_is_installed_stays(3, "range:<3.0.0", "")]
#[case::no_way_through_what_is_outside(1, "range:>=3.0.0", "")]
fn upgrades_stay_in_the_range(#[case] version: u8, #[case] words: &str, #[case] expected: &str) {
    assert_eq!(installed(version, CHANNEL, words), expected);
}

#[rstest]
#[case::at_first("", "sub a a/alpha start:a.v2 pinned", "a.v2")]
#[case::next_step("csv a.v1@1.0.0 of:a", "sub a a/alpha is:a.v1 start:a.v3 pinned", "a.v2")]
#[case::last_step("csv a.v2@2.0.0 of:a", "sub a a/alpha is:a.v2 start:a.v3 pinned", "a.v3")]
#[case::there("csv a.v3@3.0.0 of:a", "sub a a/alpha is:a.v3 start:a.v3 pinned", "")]
#[case::not_pinned("csv a.v1@1.0.0 of:a", "sub a a/alpha is:a.v1 start:a.v1", "a.v2")]
fn a_pin_is_reached_step_by_step(
    #[case] csv: &str,
    #[case] subscription: &str,
    #[case] expected: &str,
) {
    assert_eq!(installs(CHANNEL, &format!("{csv}\n    {subscription}")), expected);
}

#[rstest]
#[case::the_short_way(2, "start:a.v4 pinned", "a.v4")]
#[case::not_beyond(2, "start:a.v3 pinned", "a.v3")]
#[case::by_a_jump(2, "start:a.v5 pinned", "a.v4")]
#[case::step_by_step_in_the_range(2, "start:a.v5 pinned range:!=4.0.0", "unsat")]
fn a_pin_is_reached_on_the_shortest_way(
    #[case] version: u8,
    #[case] words: &str,
    #[case] expected: &str,
) {
    assert_eq!(installed(version, JUMPS, words), expected);
}

#[test]
fn a_skipped_version_is_no_step() {
    let channel = "
    a.v1@1.0.0 a/alpha
    a.v2@2.0.0 a/alpha ->a.v1
    a.v3@3.0.0 a/alpha ->a.v2
    a.v4@4.0.0 a/alpha ->a.v3 ~a.v2 range:<4.0.0";
    assert_eq!(installed(1, channel, "start:a.v4 pinned"), "a.v4");
    assert_eq!(installed(1, channel, "start:a.v3 pinned"), "unsat");
    assert_eq!(installed(1, channel, "start:a.v2 pinned"), "unsat");
}

#[rstest]
#[case::older(
    "csv a.v3@3.0.0 of:a\n    sub a a/alpha is:a.v3 start:a.v1 pinned",
    "No upgrade leads to what is accepted by Subscription a, which is pinned to a.v1 in channel alpha of \
     package a of CatalogSource olm/community. Upgrades lead to: a.v5, a.v4. a.v3 stays installed and gets no \
     updates."
)]
#[case::unknown(
    "csv a.v5@5.0.0 of:a\n    sub a a/alpha is:a.v5 start:a.v9 pinned",
    "There is no upgrade at all."
)]
#[case::nothing_in_the_range(
    "sub a a/alpha range:>=7.0.0",
    "Nothing in channel alpha of package a of CatalogSource olm/community is accepted by Subscription a, which \
     has version-range \">=7.0.0\". The newest there: a.v5, a.v4, a.v3, a.v2, a.v1. What helps: remove what \
     Subscription a declares about versions (olm-rs.dev/version-range, olm-rs.dev/pin)."
)]
#[case::pinned_to_what_is_not_there(
    "sub a a/alpha start:a.v9 pinned",
    "What helps: remove startingCSV with annotation olm-rs.dev/pin from Subscription a, to start with the newest \
     bundle."
)]
#[case::pinned_outside_of_the_range(
    "sub a a/alpha start:a.v1 pinned range:>=2.0.0",
    "Subscription a, which is pinned to a.v1 and has version-range \">=2.0.0\""
)]
fn a_refusal_says_what_can_be_had(#[case] namespace: &str, #[case] expected: &str) {
    let answer = outcome(CHANNEL, namespace);
    let [refusal] = answer.refusals.as_slice() else { panic!("{:?}", answer.refusals) };
    let olm_resolver::ResolveError::NotSatisfiable(explanation) = &refusal.error else {
        panic!("{}", refusal.error)
    };
    let text = explanation.summary();
    assert!(text.contains(expected), "{text}");
}

/// Whoever else needs the package does not get a version of it that its Subscription refuses.
#[test]
fn others_do_not_bring_what_is_not_accepted() {
    let problem = format!(
        "{CHANNEL}\n    b.v1@1.0.0 b/beta needs:a:>=3.0.0\n    sub a a/alpha range:<3\n    sub b b/beta"
    );
    assert_eq!(answer(&problem), "unsat");
    let text = failure(&problem);
    assert!(text.contains("is not accepted by subscription a"), "{text}");
    let widened = problem.replace("range:<3", "range:<4");
    assert_eq!(answer(&widened), "a.v3 b.v1");
}

#[rstest]
#[case::by_the_range("range:<3.0.0", 2, "a.v5 a.v4 a.v3")]
#[case::by_the_pin("start:a.v2 pinned", 2, "a.v5 a.v4 a.v3")]
#[case::on_the_way_to_the_pin("start:a.v3 pinned", 1, "a.v5 a.v4")]
#[case::by_nothing("range:*-0", 4, "")]
fn what_is_held_back_is_named(#[case] words: &str, #[case] version: u8, #[case] expected: &str) {
    let words = words.replace("range:*-0", "range:>=1.0.0-0");
    let namespace =
        format!("csv a.v{version}@{version}.0.0 of:a\n    sub a a/alpha is:a.v{version} {words}");
    let held = outcome(CHANNEL, &namespace).held;
    let names: Vec<String> = held.iter().map(|one| one.names.join(" ")).collect();
    assert_eq!(names.join("; "), expected);
}

/// What is installed outside of a range, to which no upgrade leads, is named; a step outside of it is none.
#[rstest]
#[case::inside("range:<3.0.0", 2, "")]
#[case::newer_than_all("range:<3.0.0", 3, "a.v3")]
#[case::newest_of_all("range:<3.0.0", 4, "a.v4")]
#[case::one_step_below("range:>=3.0.0", 2, "")]
#[case::two_steps_below("range:>=3.0.0", 1, "a.v1")]
#[case::no_range("start:a.v2 pinned", 2, "")]
fn what_stays_outside_of_its_range_is_named(
    #[case] words: &str,
    #[case] version: u8,
    #[case] expected: &str,
) {
    let namespace =
        format!("csv a.v{version}@{version}.0.0 of:a\n    sub a a/alpha is:a.v{version} {words}");
    let held = outcome(CHANNEL, &namespace).held;
    let outside: Vec<&str> = held.iter().filter_map(|one| one.outside.as_deref()).collect();
    assert_eq!(outside.join(" "), expected);
}

/// A channel that is as large as any may be, in which nothing leads to the pinned version.
#[test]
fn the_search_for_a_way_ends() {
    let mut channel = String::new();
    for number in 1..3_000 {
        let before = number - 1;
        channel += &format!("    a.v{number}@{number}.0.0 a/alpha ->a.v{before}\n");
    }
    let namespace = "csv a.v1@1.0.0 of:a\n    sub a a/alpha is:a.v1 start:b pinned";
    let answer = outcome(&channel, namespace);
    assert_eq!(answer.refusals.len(), 1);
}

/// What a Subscription declares counts while it gets nothing itself.
#[rstest]
#[case::its_catalog_is_away("catalog olm/dead 0 away\n    sub a a/alpha in:olm/dead range:<3", "")]
#[case::its_pin_is_unknown("sub a a/alpha start:a.v9 pinned", "")]
#[case::it_is_paused("sub a a/alpha paused", "")]
#[case::it_is_paused_with_an_older_version(
    "csv a.v1@1.0.0 of:a\n    sub a a/alpha is:a.v1 paused",
    ""
)]
#[case::it_is_paused_with_that_version(
    "csv a.v3@3.0.0 of:a\n    sub a a/alpha is:a.v3 paused",
    "b.v1"
)]
#[case::it_takes_that_version("sub a a/alpha start:a.v3 pinned", "a.v3 b.v1")]
fn no_way_leads_around_a_declaration(#[case] subscription: &str, #[case] expected: &str) {
    let needs = "b.v1@1.0.0 b/beta needs:a:>=3.0.0\n    sub b b/beta";
    let resolution = outcome(CHANNEL, &format!("{needs}\n    {subscription}")).resolution;
    assert_eq!(crate::support::outcome(Ok(resolution)), expected);
}

#[test]
fn a_refusal_says_what_is_paused_and_that_it_would_help_to_go_on() {
    let namespace = "b.v1@1.0.0 b/beta needs:a:>=3.0.0\n    sub b b/beta\n    sub a a/alpha paused";
    let answer = outcome(CHANNEL, namespace);
    let [refusal] = answer.refusals.as_slice() else { panic!("{:?}", answer.refusals) };
    assert_eq!(refusal.subscriptions, ["b"]);
    let olm_resolver::ResolveError::NotSatisfiable(explanation) = &refusal.error else {
        panic!("{}", refusal.error)
    };
    let text = explanation.summary();
    let why = "is not accepted by Subscription a, which has annotation olm-rs.dev/pause.";
    let helps = "remove annotation olm-rs.dev/pause from Subscription a";
    assert!(text.contains(why) && text.contains(helps), "{text}");
}
