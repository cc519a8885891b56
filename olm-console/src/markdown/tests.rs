//! Texts that authors write, hostile ones first.

use rstest::rstest;

use super::*;

/// Elements that Markdown makes, and attributes that they have.
const ELEMENTS: [&str; 23] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// The tags of markup, without what is text.
fn tags(markup: &str) -> Vec<String> {
    let opened = markup.split('<').skip(1);
    opened.map(|rest| rest.split('>').next().unwrap_or_default().to_owned()).collect()
}

/// Fails unless every tag is one that Markdown makes, with attributes that cannot act.
fn is_harmless(markup: &str) {
    for tag in tags(markup) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        assert!(ELEMENTS.contains(&name), "<{tag}> in {markup}");
        let rest = tag.strip_prefix(name).unwrap_or_default().trim();
        if name == "a" && !rest.is_empty() {
            let address = rest.strip_prefix("href=\"").unwrap_or_else(|| panic!("{markup}"));
            assert!(
                SCHEMES.iter().any(|scheme| address.to_lowercase().starts_with(scheme)),
                "{markup}"
            );
        } else if name == "ol" {
            assert!(rest.is_empty() || rest.starts_with("start=\""), "{markup}");
        } else {
            assert!(rest.is_empty() || rest == "/" || tag.starts_with('/'), "<{tag}> in {markup}");
        }
    }
}

/// Texts that act where markup is let through. Scenarios show the same to a real browser.
const HOSTILE: &str = include_str!("hostile.txt");

/// Each text of the file, behind a line with its name.
fn hostile() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = HOSTILE.split("%% ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(name, text)| (name, text.strip_suffix('\n').unwrap_or(text)))
}

#[test]
fn nothing_of_an_author_acts() {
    for (name, text) in hostile() {
        let markup = markup(text);
        is_harmless(&markup);
        let markup = markup.to_lowercase();
        for act in ["<script", "pixel", "evil.example\"", "hx-"] {
            assert!(!markup.contains(act), "{name}: {act} in {markup}");
        }
    }
    assert!(hostile().count() > 60, "texts are lost");
}

#[rstest]
#[case("# A *b*", "<h3>A <em>b</em></h3>\n")]
#[case("[a](https://ok.example/b)", "<p><a href=\"https://ok.example/b\">a</a></p>\n")]
#[case("<a@ok.example>", "<p><a href=\"mailto:a@ok.example\">a@ok.example</a></p>\n")]
#[case("![a pot](pot.png)", "<p>a pot</p>\n")]
#[case("[a](other.md)", "<p>a</p>\n")]
#[case(
    "[![a pot](pot.png)](https://ok.example/b)",
    "<p><a href=\"https://ok.example/b\">a pot</a></p>\n"
)]
#[case(
    "[![](pot.png)](https://ok.example/b)",
    "<p><a href=\"https://ok.example/b\">https://ok.example/b</a></p>\n"
)]
#[case("a < b & c", "<p>a &lt; b &amp; c</p>\n")]
fn what_is_left_is_markdown(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(markup(text), expected);
}

#[test]
fn a_text_is_bounded() {
    let long = markup(&"é ".repeat(LONGEST));
    assert!(long.len() < 2 * LONGEST && long.ends_with("longer than what is shown.</p>"));
    let deep = markup(&"> ".repeat(LONGEST / 2));
    assert!(deep.len() <= LARGEST, "{}", deep.len());
    is_harmless(&markup(&"[".repeat(20_000)));
    is_harmless(&markup(&"*a ".repeat(10_000)));
}
