//! The largest catalogs that are accepted, made to cost the resolver as much as they can: an answer, or a
//! refusal that says what would help, in bounded time and memory.

use std::fmt::Write;
use std::time::{Duration, Instant};

use olm_resolver::{Policy, Resolver};
use rstest::rstest;

use crate::support::Problem;

/// As many entries as a catalog may have.
const ENTRIES: usize = 65_536;

/// Far more than it takes, on a machine with other things to do.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A channel of so many bundles, each with these words, and a Subscription to it.
fn channel(words: impl Fn(usize) -> String) -> Problem {
    let mut text = "b000000 p/c ".to_owned() + &words(0) + "\n";
    for number in 1..ENTRIES {
        let before = number - 1;
        writeln!(text, "b{number:06} p/c ->b{before:06} {}", words(number)).unwrap();
    }
    Problem::read(&(text + "sub p p/c\n"))
}

/// What is chosen, or why not, and what was left out.
fn answer(problem: &Problem, policy: Policy) -> String {
    let started = Instant::now();
    let answer = problem.outcome(&Resolver::default(), policy);
    assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
    let chosen = answer.resolution.chosen.iter().map(|chosen| chosen.entry.name.to_string());
    let refused = answer.refusals.iter().map(|refusal| refusal.error.to_string());
    let left_out = answer.left_out.iter().take(1).map(ToString::to_string);
    chosen.chain(refused).chain(left_out).collect::<Vec<_>>().join("\n")
}

/// One list of choices, which every bundle needs one of.
#[rstest]
fn all_provide_and_require_one_api(#[values(Policy::Isolated, Policy::V0)] policy: Policy) {
    assert_eq!(answer(&channel(|_| "+1 ?1".to_owned()), policy), "b065535");
}

/// The same API in as many spellings: a list for each.
#[test]
fn all_require_one_api_in_another_spelling() {
    let spelled = |number: usize| {
        format!(
            r#"+1 property:olm.gvk.required={{"group":"g1","kind":"k1","version":"v1","n":"{number}"}}"#
        )
    };
    let said = answer(&channel(spelled), Policy::Isolated);
    assert!(said.contains("take more than 20000000 steps together"), "{said}");
}

/// Every bundle is tested for each, and nearly every one fits.
#[test]
fn as_many_distinct_constraints_that_nearly_everything_meets() {
    let not = |number: usize| {
        let api = format!(r#"{{"gvk":{{"group":"g","version":"v1","kind":"k{number}"}}}}"#);
        format!(r#"{{"not":{{"constraints":[{api}]}}}}"#)
    };
    let said = answer(&channel(not), Policy::Isolated);
    assert!(said.contains("take more than 20000000 steps together"), "{said}");
    assert!(said.contains("make it smaller"), "{said}");
}

/// Each requires what the next one provides: every list has one member, and a channel to look through.
#[test]
fn each_requires_the_next_one() {
    let next = |number: usize| format!("+{number} ?{}", (number + 1) % ENTRIES);
    let said = answer(&channel(next), Policy::Isolated);
    assert!(said.contains("take more than 20000000 steps together"), "{said}");
}
