//! What reading takes in memory, counted by the allocator: hostile texts, and any other.
//!
//! One test, so that nothing else allocates meanwhile.

mod check;

use olm_types::document::Budget;
use peak_alloc::PeakAlloc;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Small, so that texts of a few thousand bytes pass every bound.
const SMALL: Budget = Budget { bytes: 256 << 10, values: 20_000, memory: 512 << 10, depth: 64 };

/// Texts that would become much larger than they are, and the budget that they are read with.
fn hostile() -> Vec<(String, Budget)> {
    let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
    let long = "x".repeat(40_000);
    vec![
        (
            format!("a: &a {long}\nb: {}\nc: {}\n", list("0", 4_000), list("*a", 4_000)),
            Budget::OBJECT,
        ),
        (list(r#"{"":0}"#, 400_000), Budget::OBJECT),
        (list("[]", 900_000), Budget::OBJECT),
        (list("{a: 0}", 100_000), Budget::OBJECT),
        ("- a: b\n".repeat(200_000), Budget::OBJECT),
        ("- \n".repeat(300_000), Budget::OBJECT),
        (list("&a x", 100_000), Budget::OBJECT),
        (list(r#"{"name":""}"#, 200_000), Budget::OBJECT),
        (format!("{}{}{}", "&a [".repeat(100), list("x", 50_000), "]".repeat(100)), Budget::OBJECT),
        (
            format!("a: &a {{{}}}\nb: {}\n", ["k: 0"; 9].join(","), list("{<<: *a}", 90_000)),
            Budget::OBJECT,
        ),
        (format!("a: !!binary {}\n", "////".repeat(200_000)), Budget::OBJECT),
        ("[".repeat(100_000), Budget::OBJECT),
        ("- ".repeat(100_000), Budget::OBJECT),
        ("{\"a\":".repeat(100_000), Budget::OBJECT),
        ("? ".repeat(100_000), Budget::OBJECT),
    ]
}

/// Parts that texts are put together from.
const PARTS: [&str; 24] = [
    "a: ",
    "b: ",
    "- ",
    "&x ",
    "*x",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "\n",
    "\n  ",
    "<<: ",
    "xxxxxxxxxxxxxxxx",
    "\"",
    "'",
    "|\n  ",
    "---\n",
    "0",
    "{\"\":0}",
    "[[[[",
    "]]]]",
    "!!binary ",
    ": ",
];

fn texts() -> impl Strategy<Value = String> {
    let part = (prop::sample::select(&PARTS[..]), 1..300_usize);
    let parts = prop::collection::vec(part, 0..30);
    parts.prop_map(|parts| parts.iter().map(|(part, times)| part.repeat(*times)).collect())
}

#[test]
fn memory_is_bounded_by_the_budget() {
    for (text, budget) in hostile() {
        check::check(&ALLOCATOR, &text, budget);
    }
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(&texts(), |text| {
        check::check(&ALLOCATOR, &text, SMALL);
        Ok(())
    });
    checked.unwrap();
}
