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

#[rstest]
#[case::script("<script>alert(1)</script>")]
#[case::script_in_a_line("a <script>alert(1)</script> b")]
#[case::script_over_lines("<script>\nalert(1)\n\n</script>")]
#[case::upper_case("<SCRIPT SRC=//evil.example></SCRIPT>")]
#[case::image_error("<img src=x onerror=alert(1)>")]
#[case::svg("<svg onload=alert(1)></svg>")]
#[case::svg_script("<svg><script>alert(1)</script></svg>")]
#[case::iframe("<iframe src=\"javascript:alert(1)\"></iframe>")]
#[case::object("<object data=\"https://evil.example\"></object>")]
#[case::embed("<embed src=\"https://evil.example\">")]
#[case::form("<form action=\"https://evil.example\"><input name=a></form>")]
#[case::button("<button formaction=\"javascript:alert(1)\">a</button>")]
#[case::style("<style>body { display: none }</style>")]
#[case::style_attribute("<p style=\"position: fixed\">a</p>")]
#[case::link_element("<link rel=stylesheet href=//evil.example>")]
#[case::base("<base href=\"https://evil.example/\">")]
#[case::meta("<meta http-equiv=refresh content=\"0; url=https://evil.example\">")]
#[case::anchor("<a href=\"javascript:alert(1)\">a</a>")]
#[case::comment("<!-- <script>alert(1)</script> -->")]
#[case::comment_end("<!--> <script>alert(1)</script> -->")]
#[case::cdata("<![CDATA[<script>alert(1)</script>]]>")]
#[case::instruction("<?xml version=\"1.0\"?><script>alert(1)</script>")]
#[case::unclosed("<script>alert(1)")]
#[case::broken("<scr<script>ipt>alert(1)</scr</script>ipt>")]
#[case::attribute_only("<div onclick=\"alert(1)\">a</div>")]
#[case::javascript("[a](javascript:alert(1))")]
#[case::javascript_case("[a](JaVaScRiPt:alert(1))")]
#[case::javascript_entity("[a](javascript&colon;alert(1))")]
#[case::javascript_number("[a](&#106;avascript:alert(1))")]
#[case::javascript_tab("[a](java&#9;script:alert(1))")]
#[case::javascript_space("[a](< javascript:alert(1)>)")]
#[case::data("[a](data:text/html;base64,PHNjcmlwdD4=)")]
#[case::vbscript("[a](vbscript:msgbox)")]
#[case::file("[a](file:///etc/passwd)")]
#[case::relative("[a](/plan?name=kettle)")]
#[case::no_scheme("[a](//evil.example)")]
#[case::autolink("<javascript:alert(1)>")]
#[case::reference("[a][b]\n\n[b]: javascript:alert(1)")]
#[case::picture("![a](https://evil.example/pixel.png)")]
#[case::picture_script("![a](javascript:alert(1))")]
#[case::picture_in_a_link("[![a](https://evil.example/p.png)](javascript:alert(1))")]
#[case::quote_in_an_address("[a](https://ok.example/\"onmouseover=\"alert(1))")]
#[case::quote_in_a_title("[a](https://ok.example 'b\" onclick=\"alert(1)')")]
#[case::angle_in_an_address("[a](https://ok.example/><script>alert(1)</script>)")]
#[case::language("```\"><script>alert(1)</script>\na\n```")]
#[case::code("`<script>alert(1)</script>`")]
#[case::table("| <script> |\n| :-: |\n| <img src=x onerror=alert(1)> |")]
#[case::heading("# <script>alert(1)</script>")]
fn nothing_of_an_author_acts(#[case] text: &str) {
    let markup = markup(text);
    is_harmless(&markup);
    let [unescaped, pixel] = ["<script", "pixel"].map(|word| markup.to_lowercase().contains(word));
    assert!(!unescaped && !pixel, "{markup}");
}

#[rstest]
#[case("# A *b*", "<h3>A <em>b</em></h3>\n")]
#[case("[a](https://ok.example/b)", "<p><a href=\"https://ok.example/b\">a</a></p>\n")]
#[case("<a@ok.example>", "<p><a href=\"mailto:a@ok.example\">a@ok.example</a></p>\n")]
#[case("![a pot](pot.png)", "<p>a pot</p>\n")]
#[case("[a](other.md)", "<p>a</p>\n")]
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
