//! What checking the objects of one page may cost.
//!
//! No API server has looked at the schema of a manifest before, and its objects belong to whoever may create
//! them. A schema may have as many alternatives as an object has values, and a pattern of a few bytes may take
//! megabytes once it is compiled. So every step is counted before it is made, and patterns are compiled when a
//! text is compared with them, each once, as many as fit into little memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use regex::{Error, Regex, RegexBuilder};

/// Most steps, which take some seconds. 250 objects of 10,000 values each take three million, and as many for each
/// alternative of all of their values.
const STEPS: usize = 50_000_000;

/// Steps of compiling a pattern that is as most are.
const COMPILING: usize = 2_000;

/// Bytes of a compiled pattern that is as most are, and of the largest one that is used at all.
const USUAL: usize = 1 << 20;
const LARGEST: usize = 10 << 20;

/// How many usual patterns the largest one stands for, in memory and in time.
const HEAVY: usize = 8;

/// How many usual patterns are kept.
const KEPT: usize = 32;

/// Bytes of memory in which a pattern that is used remembers what it has seen.
const CACHE: usize = 256 << 10;

/// Most bytes of the text of a pattern: three of them may stand for thousands of bytes while it is parsed.
const LONGEST: usize = 16 << 10;

/// What is left of the budget for a page of objects, and the patterns that were compiled for it.
#[derive(Debug)]
pub(in crate::crd) struct CheckBudget {
    /// Steps; nothing once more were wanted than there were.
    left: Cell<Option<usize>>,
    patterns: RefCell<BTreeMap<String, Compiled>>,
}

/// A pattern; the error of one that does not compile is a finding of every string that it is applied to.
#[derive(Debug)]
struct Compiled {
    pattern: Result<Regex, String>,
    weight: usize,
}

impl Default for CheckBudget {
    fn default() -> Self {
        Self { left: Cell::new(Some(STEPS)), patterns: RefCell::default() }
    }
}

impl CheckBudget {
    /// Another number of steps.
    #[cfg(test)]
    pub(super) fn of(steps: usize) -> Self {
        Self { left: Cell::new(Some(steps)), ..Self::default() }
    }

    /// Whether more steps were wanted than there were: what was found then says nothing.
    pub(in crate::crd) fn is_exhausted(&self) -> bool {
        self.left.get().is_none()
    }

    /// Takes so many steps; whether there were as many.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().and_then(|left| left.checked_sub(steps));
        self.left.set(left);
        left.is_some()
    }

    /// Whether a text matches a pattern.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Result<bool, String> {
        let mut patterns = self.patterns.borrow_mut();
        if let Some(compiled) = patterns.get(pattern) {
            return self.compare(compiled, text);
        }
        // Nothing was left for compiling it.
        let Some(compiled) = self.compile(pattern) else { return Ok(true) };
        let found = self.compare(&compiled, text);
        keep(&mut patterns, pattern, compiled);
        found
    }

    fn compare(&self, compiled: &Compiled, text: &str) -> Result<bool, String> {
        let Compiled { pattern, weight } = compiled;
        if !self.spend(text.len().saturating_mul(*weight)) {
            return Ok(true);
        }
        pattern.as_ref().map(|pattern| pattern.is_match(text)).map_err(Clone::clone)
    }

    fn compile(&self, pattern: &str) -> Option<Compiled> {
        if !self.spend(COMPILING) {
            return None;
        }
        let compiled = Compiled::new(pattern);
        self.spend(COMPILING * compiled.weight * compiled.weight);
        Some(compiled)
    }
}

/// Keeps a pattern while the limit allows it. Those that came first stay: each object is compared with all of them, one after
/// the other, and none would ever be found again if the last one took the place of another.
fn keep(patterns: &mut BTreeMap<String, Compiled>, pattern: &str, compiled: Compiled) {
    let kept: usize = patterns.values().map(|kept| kept.weight).sum();
    if kept + compiled.weight <= KEPT {
        patterns.insert(pattern.to_owned(), compiled);
    }
}

impl Compiled {
    fn new(pattern: &str) -> Self {
        if pattern.len() > LONGEST {
            let error = format!("it has more than {LONGEST} bytes");
            return Self { pattern: Err(error), weight: 1 };
        }
        let (compiled, weight) = match compile(pattern, USUAL) {
            Err(Error::CompiledTooBig(_)) => (compile(pattern, LARGEST), HEAVY),
            compiled => (compiled, 1),
        };
        Self { pattern: compiled.map_err(|error| error.to_string()), weight }
    }
}

fn compile(pattern: &str, most: usize) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(most).dfa_size_limit(CACHE).build()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn left(budget: &CheckBudget) -> usize {
        budget.left.get().unwrap_or_default()
    }

    #[test]
    fn what_is_left_never_grows_again() {
        let budget = CheckBudget::default();
        assert!(budget.spend(STEPS) && !budget.is_exhausted());
        assert!(!budget.spend(1) && budget.is_exhausted());
        assert!(!budget.spend(0) && budget.is_exhausted());
    }

    #[rstest]
    #[case::usual("^[a-z]{1,63}$", "a", Ok(true))]
    #[case::missed("^[a-z]{1,63}$", "A", Ok(false))]
    #[case::heavy(r"^\w{1,100}$", "a", Ok(true))]
    #[case::malformed("(", "a", Err("unclosed"))]
    #[case::too_heavy(r"((\pL{100}){100}){100}", "a", Err("size limit"))]
    fn patterns(#[case] pattern: &str, #[case] text: &str, #[case] expected: Result<bool, &str>) {
        let found = CheckBudget::default().matches(pattern, text);
        match expected {
            Ok(expected) => assert_eq!(found, Ok(expected)),
            Err(words) => assert!(found.as_ref().is_err_and(|it| it.contains(words)), "{found:?}"),
        }
    }

    #[test]
    fn a_long_pattern_is_not_parsed() {
        let found = CheckBudget::default().matches(&r"\pL".repeat(6_000), "a");
        assert_eq!(found, Err("it has more than 16384 bytes".to_owned()));
    }

    #[test]
    fn a_pattern_is_compiled_once_and_few_are_kept() {
        let budget = CheckBudget::default();
        budget.matches("^a$", "").unwrap();
        let once = left(&budget);
        budget.matches("^a$", "").unwrap();
        assert_eq!(left(&budget), once);
        for number in 0..100 {
            budget.matches(&format!("^a{{{number}}}$"), "").unwrap();
            let patterns = budget.patterns.borrow();
            assert!(patterns.values().map(|kept| kept.weight).sum::<usize>() <= KEPT);
        }
        assert!(left(&budget) < once - 100 * COMPILING);
    }

    /// Each object of a definition with more patterns than are kept is compared with all of them.
    #[test]
    fn only_patterns_that_are_not_kept_are_compiled_for_each_object() {
        const MORE: usize = 8;
        let budget = CheckBudget::default();
        for _object in 0..3 {
            for number in 0..KEPT + MORE {
                budget.matches(&format!("^a{{{number}}}$"), "").unwrap();
            }
        }
        let compiled = KEPT + 3 * MORE;
        assert_eq!(left(&budget), STEPS - 2 * COMPILING * compiled);
    }
}
