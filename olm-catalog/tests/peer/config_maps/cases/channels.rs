//! Channels: what they lead to, and what is skipped.

use super::{Case, POT, case, csv, owner, package, pot, v1, v2};

pub fn channels() -> Vec<Case> {
    vec![
        case("only channel, no default", [], [v1("a")], [package("p", "", "x=a")]),
        case("only channel, other default", [], [v1("a")], [package("p", "nope", "x=a")]),
        case("two channels, a default", [], [v1("a")], [package("p", "y", "x=a y=a")]),
        case("two channels, no default", [], [v1("a")], [package("p", "", "x=a y=a")]),
        case("two channels, unknown default", [], [v1("a")], [package("p", "z", "x=a y=a")]),
        case("channels out of order", [], [v1("a")], [package("p", "m", "z=a m=a b=a")]),
        case("a channel named twice", [], [v1("a")], [package("p", "x", "x=a x=a")]),
        case("a channel without a name", [], [v1("a")], [package("p", "", "=a")]),
        case("a channel without a CSV", [], [v1("a")], [package("p", "", "x=")]),
        case("a channel with an unknown CSV", [], [v1("a")], [package("p", "", "x=nope")]),
        case("an unknown CSV is replaced", [], [v2("a", "nope")], [package("p", "", "x=a")]),
        case("a CSV replaces itself", [], [v2("a", "a")], [package("p", "", "x=a")]),
        case("a cycle", [], [v2("a", "b"), v2("b", "a")], [package("p", "", "x=a")]),
        case(
            "a CSV that no channel leads to",
            [pot(&["v1"])],
            [v1("a"), owner("b", "1.0.0", POT)],
            [package("p", "", "x=a")],
        ),
    ]
}

pub fn skips() -> Vec<Case> {
    vec![
        case(
            "skips that are there and skips that are not",
            [],
            [
                csv("c", "version: 3.0.0, replaces: a, skips: [b, nope]"),
                v1("a"),
                csv("b", "version: 2.0.0, replaces: a"),
            ],
            [package("p", "", "x=c")],
        ),
        case(
            "a skip that is replaced, too",
            [],
            [csv("b", "version: 3.0.0, replaces: a, skips: [a, a]"), v1("a")],
            [package("p", "", "x=b")],
        ),
        case(
            "skips in the middle of a chain",
            [pot(&["v1"])],
            [
                v2("d", "c"),
                csv("c", "version: 1.3.0, replaces: a, skips: [b]"),
                owner("b", "1.2.0", POT),
                owner("a", "1.0.0", POT),
            ],
            [package("p", "", "x=d"), package("q", "y", "y=c z=a")],
        ),
        case(
            "a skip with commas",
            [],
            [csv("b", "version: 3.0.0, skips: ['a,z', '']"), v1("a")],
            [package("p", "", "x=b")],
        ),
        case(
            "two CSVs skip one",
            [],
            [
                csv("c", "version: 3.0.0, replaces: b, skips: [z]"),
                csv("b", "version: 2.0.0, skips: [z]"),
            ],
            [package("p", "", "x=c")],
        ),
        case(
            "two channels meet",
            [],
            [v2("c", "a"), v2("b", "a"), v1("a")],
            [package("p", "y", "x=b y=c")],
        ),
    ]
}

pub fn edges_of_other_types() -> Vec<Case> {
    vec![
        case(
            "skips are no list",
            [],
            [csv("a", "version: 1.0.0, skips: b")],
            [package("p", "", "x=a")],
        ),
        case(
            "replaces is a number",
            [],
            [csv("a", "version: 1.0.0, replaces: 7")],
            [package("p", "", "x=a")],
        ),
    ]
}
