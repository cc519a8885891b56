//! Arguments of `cargo xtask test`.

use anyhow::{Context, Result, bail, ensure};

/// What is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Only what a change concerns: since a commit, or what is not committed yet.
    pub changed: Option<Option<String>>,
    /// Only the scenarios on a simulated node whose names begin so (commas stand between them, and
    /// nothing is all of them), and how many times in a row.
    pub scenarios: Option<(String, u32)>,
    /// They compare what `kubectl olm plan` shows with what is done.
    pub plans: bool,
    /// They play the operators that ship.
    pub release: bool,
}

impl Arguments {
    /// Reads the words after `test`.
    ///
    /// # Errors
    /// A word is not known.
    pub fn parse(words: &[String]) -> Result<Self> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Self::read(&words)
    }

    fn read(words: &[&str]) -> Result<Self> {
        match words {
            [before @ .., flag @ ("--plans" | "--release")] => {
                let mut read = Self::read(before)?;
                ensure!(read.scenarios.is_some(), "{flag} is for --scenarios NAMES");
                read.plans |= *flag == "--plans";
                read.release |= *flag == "--release";
                Ok(read)
            }
            all => Self::of(all),
        }
    }

    fn of(words: &[&str]) -> Result<Self> {
        match *words {
            [] => Ok(Self::default()),
            ["--changed"] => Ok(Self { changed: Some(None), ..Self::default() }),
            ["--changed", base] if !base.starts_with('-') => {
                Ok(Self { changed: Some(Some(base.to_owned())), ..Self::default() })
            }
            ["--scenarios", names] if !names.starts_with('-') => {
                Ok(Self { scenarios: Some((names.to_owned(), 1)), ..Self::default() })
            }
            ["--scenarios", names, "--rounds", rounds] if !names.starts_with('-') => {
                let rounds = rounds.parse().context("--rounds takes a number")?;
                Ok(Self { scenarios: Some((names.to_owned(), rounds)), ..Self::default() })
            }
            _ => bail!(
                "test takes nothing, --changed [BASE] or --scenarios NAMES [--rounds NUMBER] \
                 [--plans] [--release], and not {}",
                words.join(" ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Arguments;

    #[rstest]
    #[case(&[], Some(None))]
    #[case(&["--changed"], Some(Some(None)))]
    #[case(&["--changed", "main"], Some(Some(Some("main"))))]
    #[case(&["--changed", "--all"], None)]
    #[case(&["--smoke"], None)]
    fn words_are_read(#[case] words: &[&str], #[case] expected: Option<Option<Option<&str>>>) {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let read = Arguments::parse(&words).ok().map(|arguments| arguments.changed);
        assert_eq!(read, expected.map(|changed| changed.map(|base| base.map(str::to_owned))));
    }

    #[rstest]
    #[case(&["--scenarios", "idle,install"], Some(("idle,install", 1)))]
    #[case(&["--scenarios", "", "--rounds", "5"], Some(("", 5)))]
    #[case(&["--scenarios", "", "--rounds", "often"], None)]
    #[case(&["--scenarios"], None)]
    fn scenarios_are_named(#[case] words: &[&str], #[case] expected: Option<(&str, u32)>) {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let read = Arguments::parse(&words).ok().and_then(|arguments| arguments.scenarios);
        assert_eq!(read, expected.map(|(names, rounds)| (names.to_owned(), rounds)));
    }

    #[rstest]
    #[case(&["--scenarios", "install", "--plans"], Some((1, true, false)))]
    #[case(&["--scenarios", "install", "--rounds", "2", "--plans"], Some((2, true, false)))]
    #[case(&["--scenarios", "install", "--release"], Some((1, false, true)))]
    #[case(&["--scenarios", "install", "--release", "--plans"], Some((1, true, true)))]
    #[case(&["--scenarios", "install"], Some((1, false, false)))]
    #[case(&["--plans"], None)]
    #[case(&["--release"], None)]
    #[case(&["--changed", "--plans"], None)]
    fn scenarios_have_flags(#[case] words: &[&str], #[case] expected: Option<(u32, bool, bool)>) {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let read = Arguments::parse(&words).ok();
        let found = read.and_then(|read| Some((read.scenarios?.1, read.plans, read.release)));
        assert_eq!(found, expected);
    }
}
