//! The command that shows the same as a page, to be copied into a shell.

use olm_client::clean::cell;
use olm_plan::doctor::shell_word;

/// A command of `kubectl olm`, word by word.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine(Vec<String>);

impl CommandLine {
    /// `kubectl olm`, the flags that every command needs, and the namespace.
    pub(crate) fn new(flags: &[String], namespace: &str) -> Self {
        Self::of_all(flags).word("-n").word(namespace)
    }

    /// The same without a namespace, for commands that look at all of them.
    pub(crate) fn of_all(flags: &[String]) -> Self {
        let program = ["kubectl", "olm"].map(str::to_owned);
        Self(program.into_iter().chain(flags.iter().cloned()).collect())
    }

    /// Another word.
    pub(crate) fn word(mut self, word: &str) -> Self {
        self.0.push(word.to_owned());
        self
    }

    /// A flag with its value, where there is one.
    pub(crate) fn flag(self, flag: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.word(flag).word(value),
            None => self,
        }
    }

    /// As a shell reads it.
    pub(crate) fn line(&self) -> String {
        self.0.iter().map(|word| shell_word(&cell(word))).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("kettle", "kettle")]
    #[case("", "''")]
    #[case("a b", "'a b'")]
    #[case("$(reboot)", "'$(reboot)'")]
    #[case("it's", r"'it'\''s'")]
    #[case("a\nb", "'a b'")]
    fn a_shell_makes_one_word_of_each(#[case] word: &str, #[case] expected: &str) {
        let line = CommandLine::new(&["--context=c".to_owned()], "ns").word(word).line();
        assert_eq!(line, format!("kubectl olm --context=c -n ns {expected}"));
    }

    #[test]
    fn a_command_that_looks_at_all_namespaces_names_none() {
        let line = CommandLine::of_all(&["--context=c".to_owned()]).word("list").word("-A").line();
        assert_eq!(line, "kubectl olm --context=c list -A");
    }
}
