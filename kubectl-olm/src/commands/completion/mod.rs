//! `completion`: scripts for shells, and the answers that they ask for in cobra's protocol, which kubectl
//! speaks with its plugins: a line for each candidate with a description, and a last line with what the
//! shell shall not do.

mod line;
mod names;
mod place;

use anyhow::Result;
use clap::CommandFactory;

use crate::Outcome;
use crate::args::{Cli, Shell};
use crate::output::Output;
use line::Line;
use names::names;

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

/// Versions before 7.3 pass no empty words to programs.
const POWERSHELL: &str = r#"Register-ArgumentCompleter -Native -CommandName kubectl-olm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        Select-Object -Skip 1 |
        ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') {
        $version = $PSVersionTable.PSVersion
        $words += if ($version.Major * 100 + $version.Minor -lt 703) { '""' } else { '' }
    }
    kubectl-olm __complete -- @words 2>$null |
        Where-Object { $_ -notlike ':*' } |
        ForEach-Object {
            $word, $about = $_ -split "`t", 2
            if (-not $about) { $about = $word }
            [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
        }
}
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
        Shell::PowerShell => POWERSHELL,
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
pub async fn complete(output: Output, words: &[String], cli: &Cli) -> Result<Outcome> {
    let root = Cli::command();
    let line = Line::of(&root, words);
    let mut found = line.candidates();
    if let Some(kind) = line.names() {
        found.extend(names(kind, &line.shared, cli).await);
    }
    found.retain(|candidate| candidate.starts_with(line.last));
    let mut text: String =
        found.iter().map(|candidate| format!("{}{candidate}\n", line.before)).collect();
    text.push_str(NO_FILES);
    output.print(&(text + "\n"))?;
    Ok(Outcome::Fine)
}
