//! A command line that is being typed: what its last word may be.

use clap::{Arg, Command};

use super::names::Names;

/// A command line, up to the word that is completed.
pub(super) struct Line<'a> {
    root: &'a Command,
    /// The command that was named so far.
    command: &'a Command,
    /// Its name, and those of the commands above it.
    path: Vec<&'a str>,
    /// How many of its arguments stand there.
    arguments: usize,
    /// The flag whose value is completed.
    flag: Option<&'a Arg>,
    /// Flags that every command has, with their values: they name the cluster.
    pub(super) shared: Vec<&'a str>,
    /// What stands in the last word before what is completed.
    pub(super) before: &'a str,
    /// How candidates begin.
    pub(super) last: &'a str,
}

impl<'a> Line<'a> {
    /// Reads the words of a line; the last one is completed.
    pub(super) fn of(root: &'a Command, words: &'a [String]) -> Self {
        let (path, shared) = (Vec::new(), Vec::new());
        let (arguments, flag, before, last) = (0, None, "", "");
        let mut line = Self { root, command: root, path, arguments, flag, shared, before, last };
        if let Some((last, words)) = words.split_last() {
            words.iter().for_each(|word| line.take(word));
            line.end(last);
        }
        line
    }

    fn take(&mut self, word: &'a str) {
        if let Some(flag) = self.flag.take() {
            self.share(flag, word);
        } else if word.starts_with('-') {
            let Some(flag) = self.flag_of(word) else { return };
            self.share(flag, word);
            let holds_value = word.contains('=') || (!word.starts_with("--") && word.len() > 2);
            let takes_next = flag.get_action().takes_values() && !flag.is_require_equals_set();
            self.flag = Some(flag).filter(|_| takes_next && !holds_value);
        } else if let Some(command) = self.command.find_subcommand(word) {
            self.command = command;
            self.path.push(command.get_name());
        } else {
            self.arguments += 1;
        }
    }

    fn end(&mut self, word: &'a str) {
        self.last = word;
        if let Some(flag) = self.flag {
            // Its value is still to come.
            if self.is_shared(flag) {
                self.shared.pop();
            }
        } else if word.starts_with("--")
            && let Some(at) = word.find('=')
            && let Some(flag) = self.flag_of(word)
        {
            self.flag = Some(flag);
            (self.before, self.last) = word.split_at(at + 1);
        }
    }

    fn share(&mut self, flag: &Arg, word: &'a str) {
        if self.is_shared(flag) {
            self.shared.push(word);
        }
    }

    fn is_shared(&self, flag: &Arg) -> bool {
        self.root.get_arguments().any(|one| one.get_id() == flag.get_id())
    }

    fn flag_of(&self, word: &str) -> Option<&'a Arg> {
        let name = word.split('=').next().unwrap_or_default();
        let mut flags = self.command.get_arguments().chain(self.root.get_arguments());
        flags.find(|flag| match name.strip_prefix("--") {
            Some(long) => {
                flag.get_long_and_visible_aliases().is_some_and(|all| all.contains(&long))
            }
            None => flag.get_short().is_some() && flag.get_short() == name.chars().nth(1),
        })
    }

    /// Flags, values of a flag, commands, or arguments: those that are known without a cluster.
    pub(super) fn candidates(&self) -> Vec<String> {
        match self.flag {
            Some(flag) => values(flag),
            None if self.last.starts_with('-') => self.flags(),
            None => {
                let argument = self.command.get_positionals().nth(self.arguments);
                self.commands().chain(argument.into_iter().flat_map(values)).collect()
            }
        }
    }

    fn flags(&self) -> Vec<String> {
        let own = self.command.get_arguments();
        let own = own.filter(|_| !std::ptr::eq(self.root, self.command));
        let all = self.root.get_arguments().chain(own).filter(|flag| !flag.is_hide_set());
        let described = all.filter_map(|flag| {
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            flag.get_long().map(|long| format!("--{long}\t{help}"))
        });
        described.collect()
    }

    fn commands(&self) -> impl Iterator<Item = String> {
        let below = self.command.get_subcommands().filter(|command| !command.is_hide_set());
        below.map(|command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            format!("{}\t{about}", command.get_name())
        })
    }

    /// Which names of a cluster the last word may be.
    pub(super) fn names(&self) -> Option<Names> {
        if let Some(flag) = self.flag {
            return (flag.get_id().as_str() == "namespace").then_some(Names::Namespaces);
        }
        if self.last.starts_with('-') || self.arguments > 0 {
            return None;
        }
        match self.path.as_slice() {
            ["status" | "events" | "logs" | "operands" | "why"] => Some(Names::Subscriptions),
            ["permissions" | "upgrade" | "uninstall"] => Some(Names::Subscriptions),
            ["plan", "upgrade" | "uninstall"] => Some(Names::Subscriptions),
            ["approve" | "cleanup"] => Some(Names::Installed),
            ["show" | "graph" | "install"] | ["plan", "install"] => Some(Names::Packages),
            _ => None,
        }
    }
}

fn values(flag: &Arg) -> Vec<String> {
    flag.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;
    use crate::args::Cli;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[rstest]
    #[case::commands("st", "status")]
    #[case::below("plan up", "upgrade")]
    #[case::values("completion z", "zsh")]
    #[case::global_flags("list --kubec", "--kubeconfig")]
    #[case::own_flags("approve --plan", "--plan-hash")]
    #[case::value_of_a_flag("install kettle --approval M", "Manual")]
    #[case::after_a_flag("install --approval Manual kettle --approval A", "Automatic")]
    #[case::value_with_its_flag("install --dry-run=s", "--dry-run=server")]
    #[case::global_values("list -o y", "yaml")]
    #[case::name_of_a_command("list -n plan up", "")]
    #[case::switch("list -A -o na", "name")]
    #[case::hidden_flag("console --off", "")]
    #[case::unknown_flag("completion --unknown=z", "")]
    #[case::value_in_the_word("install -ntea --ap", "--approval")]
    #[case::hyphen("completion - z", "zsh")]
    #[case::nothing("list x", "")]
    #[case::hidden("__", "")]
    fn the_last_word_is_completed(#[case] line: &str, #[case] expected: &str) {
        let (root, words) = (Cli::command(), words(line));
        let line = Line::of(&root, &words);
        let found = line.candidates();
        let fitting = found.iter().filter(|one| one.starts_with(line.last));
        let names = fitting.filter_map(|one| one.split('\t').next());
        let names: Vec<String> = names.map(|name| format!("{}{name}", line.before)).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[rstest]
    #[case("status k", Some(Names::Subscriptions), "")]
    #[case("tree ", Some(Names::Subscriptions), "")]
    #[case("-n tea --context=c status k", Some(Names::Subscriptions), "-n tea --context=c")]
    #[case("plan upgrade --to 1.0.0 -A k", Some(Names::Subscriptions), "-A")]
    #[case("approve k", Some(Names::Installed), "")]
    #[case("approve kettle 1", None, "")]
    #[case("plan install --source c k", Some(Names::Packages), "")]
    #[case("list -n t", Some(Names::Namespaces), "")]
    #[case("list --context c --namespace=t", Some(Names::Namespaces), "--context c")]
    #[case("status --n", None, "")]
    #[case("list k", None, "")]
    fn names_of_a_cluster_are_asked_for(
        #[case] line: &str,
        #[case] expected: Option<Names>,
        #[case] shared: &str,
    ) {
        let (root, words) = (Cli::command(), words(line));
        let line = Line::of(&root, &words);
        assert_eq!((line.names(), line.shared.join(" ").as_str()), (expected, shared));
    }
}
