//! Lines with the time since the start.

use std::fmt::Display;
use std::time::Instant;

/// Where the text of an event begins.
const INDENT: usize = 25;

/// How many columns a line has.
const WIDTH: usize = 124;

/// Prints what happens, when it happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    start: Instant,
}

impl Timeline {
    /// Time zero.
    pub(crate) fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// A heading.
    pub(crate) fn chapter(&self, title: &str) {
        println!("\n{title}");
    }

    /// An event: what it is about, and what happened.
    pub(crate) fn event(&self, subject: &str, text: impl Display) {
        let elapsed = self.start.elapsed().as_secs_f32();
        let text = text.to_string();
        let mut lines = wrapped(&text, WIDTH - INDENT).into_iter();
        let first = lines.next().unwrap_or_default();
        println!("{elapsed:>7.1} s  {subject:<13} {first}");
        lines.for_each(|line| println!("{:INDENT$}{line}", ""));
    }

    /// An event in one line, shortened if need be: for well-known messages.
    pub(crate) fn short_event(&self, subject: &str, text: &str) {
        let width = WIDTH - INDENT;
        let text = match text.char_indices().nth(width) {
            None => text.to_owned(),
            Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
        };
        self.event(subject, text);
    }

    /// Lines that belong to the event above.
    pub(crate) fn detail(&self, text: impl Display) {
        let text = text.to_string();
        wrapped(&text, WIDTH - INDENT).iter().for_each(|line| println!("{:INDENT$}{line}", ""));
    }
}

/// Breaks a text between words, so that lines have at most `width` characters where words allow it.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::wrapped;

    #[rstest]
    #[case::fits("one two", 7, &["one two"])]
    #[case::breaks_between_words("one two three", 8, &["one two", "three"])]
    #[case::keeps_columns("a    b", 9, &["a    b"])]
    #[case::leaves_long_words_whole("a extraordinary b", 5, &["a", "extraordinary", "b"])]
    #[case::nothing("", 5, &[""])]
    fn lines(#[case] text: &str, #[case] width: usize, #[case] expected: &[&str]) {
        assert_eq!(wrapped(text, width), expected);
    }
}
