//! How much of a page its parts may take, so that a package with thousands of versions is as small a page as any.

/// Bytes that a part may still take.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// So many.
    pub(super) const fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// Whether these texts still fit, which are taken then, with the markup around them.
    pub(super) fn holds(&mut self, markup: usize, texts: &[&str]) -> bool {
        let size = markup + texts.iter().map(|text| written(text)).sum::<usize>();
        let holds = size <= self.left;
        if holds {
            self.left -= size;
        }
        holds
    }
}

/// Bytes of a text as it is written: what is markup elsewhere takes more.
fn written(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| b"<>&\"'".contains(byte)).count();
    text.len() + 4 * escaped
}

/// The beginning of a text, where it has more characters.
pub(super) fn short(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_takes_no_more_than_it_may() {
        let mut budget = Budget::new(20);
        assert!(budget.holds(2, &["12345", "123"]));
        assert!(!budget.holds(0, &["<<<"]), "what is escaped takes more");
        assert!(budget.holds(0, &["1234567890"]), "what does not fit takes nothing");
        assert!(!budget.holds(1, &[]));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(short("ééé", 2), "éé…");
        assert_eq!(short("ééé", 3), "ééé");
    }
}
