//! Packages, and versions of their bundles.

use super::{Case, POT, case, csv, csv_with, owner, package, pot, v1, v2};

pub fn packages() -> Vec<Case> {
    vec![
        case("a chain of two", [], [v1("a.v1"), v2("a.v2", "a.v1")], [package("a", "", "x=a.v2")]),
        case("capitals", [], [v1("PackageC.v1")], [package("PackageC", "", "Stable=PackageC.v1")]),
        case("dots and more in a name", [], [v1("a")], [package("'a.b/c d'", "", "x=a")]),
        case("no name", [], [v1("a")], [package("''", "", "x=a")]),
        case("a long name", [], [v1("a")], [package(&"a".repeat(80), "", "x=a")]),
        case(
            "named twice, the last counts",
            [],
            [v1("a"), v1("b")],
            [package("p", "", "x=a"), package("p", "", "y=b")],
        ),
        case(
            "named twice, the last is wrong",
            [],
            [v1("a"), v1("b")],
            [package("p", "", "x=a"), package("p", "", "y=nope")],
        ),
        case(
            "named twice, the first is wrong",
            [],
            [v1("a"), v1("b")],
            [package("p", "", "x=nope"), package("p", "", "y=b")],
        ),
        case("no channels", [], [v1("a")], [package("p", "", "")]),
        case("null", [], [v1("a")], ["null".to_owned()]),
        case("a number as name", [], [v1("a")], [package("7", "", "x=a")]),
        case("no packages", [], [v1("a")], []),
        case(
            "a text as list of channels",
            [],
            [v1("a")],
            ["{packageName: p, channels: x}".to_owned()],
        ),
        case(
            "other spellings of fields",
            [],
            [v1("a")],
            ["{PackageName: p, CHANNELS: [{Name: x, currentcsv: a}], more: 1}".to_owned()],
        ),
        case(
            "one CSV in five packages",
            [pot(&["v1"])],
            [owner("a", "1.0.0", POT)],
            ["p", "q", "r", "s", "t"].map(|name| package(name, "", "x=a")),
        ),
        case(
            "a wrong one beside a right one",
            [],
            [v1("a")],
            [package("p", "", "x=a"), package("q", "", "x=nope")],
        ),
    ]
}

pub fn versions() -> Vec<Case> {
    let same = [v1("a"), csv("b", "version: 1.0.0, replaces: a")];
    vec![
        case("twice in a package", [], same.clone(), [package("p", "", "x=b")]),
        case("in two packages", [], same, [package("p", "", "x=a"), package("q", "", "x=b")]),
        case("no version", [], [csv("a", "replaces: ''")], [package("p", "", "x=a")]),
        case("no semantic version", [], [csv("a", "version: banana")], [package("p", "", "x=a")]),
        case("a version with v", [], [csv("a", "version: v1.0")], [package("p", "", "x=a")]),
        case("a number as version", [], [csv("a", "version: 1.5")], [package("p", "", "x=a")]),
        case("null as version", [], [csv("a", "version: null")], [package("p", "", "x=a")]),
        case(
            "a skip range",
            [],
            [csv_with(
                "name: a, annotations: {olm.skipRange: '<1.0.0 >=0.1.0 & x'}",
                "version: 1.0.0",
            )],
            [package("p", "", "x=a")],
        ),
        case(
            "a skip range that is none",
            [],
            [csv_with("name: a, annotations: {olm.skipRange: 'x'}", "version: 1.0.0")],
            [package("p", "", "x=a")],
        ),
    ]
}
