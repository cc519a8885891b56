//! What lists are written like.

use super::{CRDS, CSVS, Case, PACKAGES, case, csv, list, package, texts, v1, without};

pub fn lists() -> Vec<Case> {
    let good = |name| case(name, [], [v1("a")], [package("p", "", "x=a")]);
    let with = |name, key: &str, text: &str| {
        let mut case = good(name);
        case.data.insert(key.to_owned(), text.to_owned());
        case
    };
    vec![
        without(good("no list of CRDs"), CRDS),
        without(good("no list of CSVs"), CSVS),
        without(good("no list of packages"), PACKAGES),
        texts("empty texts", "", "", ""),
        texts("null", "null", "~", "# nothing\n"),
        with("a map of CRDs", CRDS, "{}"),
        with("a text as list of CSVs", CSVS, "text"),
        with("a number as list of packages", PACKAGES, "7"),
        with("broken YAML", CRDS, "a: [\n"),
        with("broken YAML of CSVs", CSVS, "- a: b\n c: d\n"),
        with("tabs", PACKAGES, "-\tpackageName: p\n\tchannels: []\n"),
        with(
            "JSON",
            PACKAGES,
            "[{\"packageName\": \"p\", \"channels\": [{\"name\": \"x\", \"currentCSV\": \"a\"}]}]",
        ),
        with(
            "a second document",
            PACKAGES,
            "- {packageName: p, channels: [{name: x, currentCSV: a}]}\n---\n- {packageName: q}\n",
        ),
        with(
            "a key twice",
            PACKAGES,
            "- {packageName: p, packageName: q, channels: [{name: x, currentCSV: a}]}\n",
        ),
        with(
            "anchors",
            CSVS,
            "- &a {apiVersion: a/v1, kind: ClusterServiceVersion, metadata: {name: a}, spec: &s {version: 1.0.0, b: [&x 1, *x]}}\n",
        ),
        with("an unknown anchor", CSVS, "- *a\n"),
        with("another key", "more", "7"),
    ]
}

/// What plain scalars are to v0, whose YAML is that of 1.1.
pub fn scalars() -> Vec<Case> {
    let p = || package("p", "", "x=a");
    let values = |name, values: &str| {
        case(name, [], [csv("a", &format!("version: 1.0.0, v: {values}"))], [p()])
    };
    let whole = |name, csvs: &str| texts(name, "", csvs, &list(&[p()]));
    vec![
        values(
            "booleans",
            "[y, Y, yes, Yes, YES, on, On, ON, n, N, no, off, Off, true, True, FALSE, yEs, tRUE, 'yes', \"on\"]",
        ),
        values("nulls", "[~, null, Null, NULL, nULL, , 'null']"),
        values(
            "integers",
            "[0777, 0o17, 0x1F, 0b101, -0b11, 1_000, +5, -7, 09, 00, 0_1, 1__0, 9223372036854775807, 9223372036854775808, 18446744073709551616, -0]",
        ),
        values(
            "floats",
            "[1.0, .5, 5., 1e3, 1E-3, +1.5, -.5, 1_0.5, 1.5e+10, 1e21, 123456789012345678901234567890, 0x1p4, 1:30, 190:20:30, 1.2.3]",
        ),
        values("dates", "[2001-01-02, 2001-12-14t21:59:43.10-05:00, 2001-01-02 03:04:05]"),
        values("infinity", "[.inf]"),
        values("no number", "[.nan]"),
        values(
            "tags",
            "[!!str 7, !!str yes, !!int '7', !!float 1, !!bool yes, !!null '', !other x, !!binary aGVsbG8=]",
        ),
        values("a tag that does not fit", "[!!int x]"),
        values("keys", "{yes: 1, 0x10: 2, 1.50: 3, ~: 4}"),
        values("keys of booleans and numbers", "{yes: 1, 0x10: 2, 1.50: 3, 'no': 4}"),
        values("a list as key", "{[a]: 1}"),
        values("texts", "['', ' a ', \"a\\tb\\u00e9\", a b, -a, a#b, 'it''s', =, <]"),
        whole(
            "merge keys",
            "- &b\n  apiVersion: a/v1\n  kind: ClusterServiceVersion\n  metadata: {name: a}\n  spec: &s {version: 1.0.0, a: 1}\n- <<: *b\n  metadata: {name: b}\n  spec:\n    a: 2\n    <<: [*s, {c: 3}]\n    b: 4\n",
        ),
        whole("a merge that is none", "- <<: 7\n"),
        whole(
            "blocks",
            "- apiVersion: a/v1\n  kind: ClusterServiceVersion\n  metadata:\n    name: a\n  spec:\n    version: 1.0.0\n    a: |\n      b\n       c\n\n    d: >-\n      e\n      f\n\n      g\n    h: |+\n      i\n\n    j: k\n      l\n    'm n': \"o\n      p\"\n    q:\n    - r\n    -   - s\n        - t: u\n",
        ),
        whole(
            "plain words below keys",
            "- apiVersion: a/v1\n  kind: ClusterServiceVersion\n  metadata:\n    name: a\n  spec:\n    version: 1.0.0\n    a: yes\n    b: 0777\n    c: 1_000\n    d: on\n    e: 0o17\n    on: 1\n    f: 2001-01-02\n    g: 1.20\n    h: \"yes\"\n    i: ~\n    j: 1e3\n",
        ),
    ]
}
