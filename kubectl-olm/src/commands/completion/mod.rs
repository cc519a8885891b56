//! `completion`: scripts for shells, and the answers that they ask for in cobra's protocol, which kubectl
//! speaks with its plugins: a line for each candidate with a description, and a last line with what the
//! shell shall not do.

mod place;

use anyhow::Result;
use clap::{Command, CommandFactory};

use crate::Outcome;
use crate::args::{Cli, Shell};
use crate::output::Output;

/// Cobra's directive: file names are no candidates.
const NO_FILES: &str = ":4";

const BASH: &str = r#"_kubectl_olm() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :*) ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <(kubectl-olm __complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)
}
complete -F _kubectl_olm kubectl-olm
"#;

const ZSH: &str = r#"#compdef kubectl-olm
_kubectl_olm() {
    local line
    local -a found
    while IFS= read -r line; do
        case "$line" in
            :*) ;;
            *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done < <(kubectl-olm __complete -- "${(@)words[2,$CURRENT]}" 2>/dev/null)
    _describe 'kubectl-olm' found
}
compdef _kubectl_olm kubectl-olm
"#;

const FISH: &str = r#"function __kubectl_olm
    set -l words (commandline -opc) (commandline -ct)
    kubectl-olm __complete -- $words[2..-1] 2>/dev/null | string match -rv '^:'
end
complete -c kubectl-olm -f -a '(__kubectl_olm)'
"#;

const KUBECTL: &str = r#"#!/bin/sh
# Put this as kubectl_complete-olm on the PATH, executable.
exec kubectl-olm __complete -- "$@"
"#;

/// Prints a script, or puts it where its reader looks for it.
pub fn script(output: Output, shell: Shell, install: bool) -> Result<Outcome> {
    let script = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        Shell::Kubectl => KUBECTL,
    };
    if !install {
        output.print(script)?;
        return Ok(Outcome::Fine);
    }
    let file = place::put(shell, script)?;
    output.print(&format!("{}\n", file.display()))?;
    if shell == Shell::Zsh
        && let Some(folder) = file.parent()
    {
        Output::complain(&format!(
            "zsh finds it once ~/.zshrc has `fpath+=({})` before compinit",
            folder.display()
        ));
    }
    Ok(Outcome::Fine)
}

/// Prints the candidates for the last word.
pub fn complete(output: Output, words: &[String]) -> Result<Outcome> {
    let mut lines = candidates(&Cli::command(), words);
    lines.push(NO_FILES.to_owned());
    output.print(&(lines.join("\n") + "\n"))?;
    Ok(Outcome::Fine)
}

/// Commands, values or flags that begin as the last word does.
fn candidates(root: &Command, words: &[String]) -> Vec<String> {
    let (last, before) =
        words.split_last().map_or(("", words), |(last, rest)| (last.as_str(), rest));
    let mut command = root;
    for word in before {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let all = match last.starts_with('-') {
        true => flags(root, command),
        false => values(command),
    };
    all.into_iter().filter(|line| line.starts_with(last)).collect()
}

fn flags(root: &Command, command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter(|_| !std::ptr::eq(root, command));
    let all = root.get_arguments().chain(own).filter(|flag| !flag.is_hide_set());
    let described = all.filter_map(|flag| {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        flag.get_long().map(|long| format!("--{long}\t{help}"))
    });
    described.collect()
}

/// Commands below this one, or what its first argument may be.
fn values(command: &Command) -> Vec<String> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = below.map(|command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("{}\t{about}", command.get_name())
    });
    let positional = command.get_positionals().next().map(|value| value.get_possible_values());
    let values = positional.into_iter().flatten().map(|value| value.get_name().to_owned());
    commands.chain(values).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::commands(&["st"], "status")]
    #[case::values(&["completion", "z"], "zsh")]
    #[case::global_flags(&["list", "--kubec"], "--kubeconfig")]
    #[case::own_flags(&["approve", "--plan"], "--plan-hash")]
    #[case::nothing(&["list", "x"], "")]
    #[case::hidden(&["__"], "")]
    fn the_last_word_is_completed(#[case] words: &[&str], #[case] expected: &str) {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let found = candidates(&Cli::command(), &words);
        let names: Vec<&str> = found.iter().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(names.join(" "), expected);
    }
}
