//! Hostile text on a terminal: names, messages and descriptions come from catalogs and other users.

/// What stands for a character that is not shown.
const HIDDEN: char = '\u{fffd}';

/// Text in which only line ends and tabs control a terminal.
pub fn text(text: &str) -> String {
    let shown = |c: char| if c == '\n' || c == '\t' || !is_control(c) { c } else { HIDDEN };
    text.chars().map(shown).collect()
}

/// Text for one cell of a table, on one line.
pub fn cell(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if is_control(c) => HIDDEN,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// JSON in which strings hold control characters as escapes: nothing is lost, and nothing acts.
pub fn json_text(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_control(c) {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| {
                escaped.push_str(&format!("\\u{unit:04x}"));
            });
        }
    }
    escaped
}

/// What moves a cursor, changes colours or turns the direction of writing.
fn is_control(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\re\u{7f}f\u{61c}";

    #[test]
    fn nothing_that_acts_reaches_a_terminal() {
        assert_eq!(text(HOSTILE), "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}");
        assert_eq!(text("a\n\tb"), "a\n\tb");
        assert_eq!(cell("a\nb\tc\u{1b}"), "a b c\u{fffd}");
    }

    #[test]
    fn json_keeps_what_it_escapes() {
        let value = serde_json::json!({ "a": HOSTILE });
        let printed = json_text(&format!("{value:#}"));
        assert!(!printed.chars().any(|c| is_control(c) && c != '\n'), "{printed}");
        let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(read, value);
    }
}
