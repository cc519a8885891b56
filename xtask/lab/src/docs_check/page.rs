//! A page of `docs/`, as far as it can be run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::report::Outcome;

/// The mark of a page on which OLM is installed: it begins without it.
const EMPTY: &str = "<!-- cluster: empty -->";

/// One page.
#[derive(Debug)]
pub(super) struct Page {
    /// Its file.
    pub name: String,
    /// What can be run, in the order of the page.
    pub blocks: Vec<Block>,
    is_empty_first: bool,
}

/// A fenced block, with the line in which it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub line: usize,
    pub what: BlockKind,
}

/// What a block is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A file that later commands name.
    File { name: String, text: String },
    /// Commands, one after the other.
    Commands(Vec<Command>),
    /// Commands that need what is not here.
    NotRun { reason: String, commands: Vec<Command> },
}

/// A command and the lines that it prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub text: String,
    pub prints: Vec<String>,
}

impl Page {
    /// Whether something runs.
    pub(super) fn has_commands(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.what, BlockKind::Commands(_)))
    }

    /// Whether the page begins with a cluster that has no OLM.
    pub(super) fn starts_empty(&self) -> bool {
        self.is_empty_first
    }

    /// The outcomes of a page on which nothing runs.
    pub(super) fn left_out(&self) -> Vec<Outcome> {
        self.blocks.iter().flat_map(|block| block.left_out(&self.name)).collect()
    }
}

impl Block {
    /// The outcomes of commands that are not run.
    pub(super) fn left_out(&self, page: &str) -> Vec<Outcome> {
        let BlockKind::NotRun { reason, commands } = &self.what else { return Vec::new() };
        let place = format!("{page}:{}", self.line);
        let outcome = |command: &Command| Outcome::NotRun {
            place: place.clone(),
            command: command.text.clone(),
            reason: reason.clone(),
        };
        commands.iter().map(outcome).collect()
    }
}

/// Every page of a folder, by name.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()));
    for entry in entries? {
        let path = entry.context("cannot list a folder")?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
            pages.push(read(&name, &text)?);
        }
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pages)
}

/// The page in a text.
pub(super) fn read(name: &str, text: &str) -> Result<Page> {
    let (mut blocks, mut comment) = (Vec::new(), None);
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let content: Vec<&str> =
                lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```").collect();
            let place = || format!("{name}:{number}");
            let what = block(language, &content, comment.take()).with_context(place)?;
            blocks.extend(what.map(|what| Block { line: number, what }));
        } else if let Some(text) = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")) {
            comment = Some(text);
        } else if !line.is_empty() {
            ensure!(!line.starts_with("    $ "), "{name}:{number}: a command outside of a block");
            comment = None;
        }
    }
    Ok(Page { name: name.to_owned(), blocks, is_empty_first: text.contains(EMPTY) })
}

/// What a block is that comes after a comment; nothing when it is only to be read.
fn block(language: &str, lines: &[&str], comment: Option<&str>) -> Result<Option<BlockKind>> {
    let file = comment.and_then(|comment| comment.strip_prefix("file: "));
    let reason = comment.and_then(|comment| comment.strip_prefix("not run: "));
    Ok(match (language, file, reason) {
        ("console", None, None) => Some(BlockKind::Commands(commands(lines)?)),
        ("console", None, Some(reason)) => {
            Some(BlockKind::NotRun { reason: reason.to_owned(), commands: commands(lines)? })
        }
        (_, Some(name), None) if language != "console" => {
            let text = lines.iter().map(|line| format!("{line}\n")).collect();
            Some(BlockKind::File { name: name.to_owned(), text })
        }
        ("" | "sh" | "bash" | "shell", None, None) => {
            bail!("a block of language {language:?}: commands are in blocks of language console")
        }
        (_, None, None) => None,
        _ => bail!("the comment before the block does not suit a block of language {language:?}"),
    })
}

fn commands(lines: &[&str]) -> Result<Vec<Command>> {
    let mut commands: Vec<Command> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(text), _) => {
                commands.push(Command { text: text.to_owned(), prints: Vec::new() });
            }
            (None, Some(last)) if last.text.ends_with('\\') && last.prints.is_empty() => {
                last.text.pop();
                last.text.push_str(line.trim_start());
            }
            (None, Some(last)) => last.prints.push((*line).to_owned()),
            (None, None) => bail!("output comes before the first command"),
        }
    }
    ensure!(!commands.is_empty(), "there is no command in the block");
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use xtask::workspace;

    #[test]
    fn blocks_are_distinguished() {
        let text = "<!-- cluster: empty -->\n# Page\n\n<!-- file: a.yaml -->\n```yaml\na: 1\n```\n\n\
            ```console\n$ kubectl get \\\n    pods\nNAME …\n$ true\n```\n\n\
            <!-- not run: needs a node -->\n```console\n$ reboot\n```\n\n```text\nanything\n```\n";
        let page = read("page.md", text).unwrap();
        assert!(page.starts_empty() && page.has_commands());
        let get =
            Command { text: "kubectl get pods".to_owned(), prints: vec!["NAME …".to_owned()] };
        let plain = |text: &str| Command { text: text.to_owned(), prints: Vec::new() };
        let expected = [
            BlockKind::File { name: "a.yaml".to_owned(), text: "a: 1\n".to_owned() },
            BlockKind::Commands(vec![get, plain("true")]),
            BlockKind::NotRun {
                reason: "needs a node".to_owned(),
                commands: vec![plain("reboot")],
            },
        ];
        let found: Vec<BlockKind> = page.blocks.into_iter().map(|block| block.what).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::no_language("```\nls\n```\n")]
    #[case::another_language("```sh\nls\n```\n")]
    #[case::output_first("```console\noutput\n$ ls\n```\n")]
    #[case::no_command("```console\n```\n")]
    #[case::a_file_of_commands("<!-- file: a -->\n```console\n$ ls\n```\n")]
    #[case::indented("    $ ls\n")]
    fn commands_in_another_form_are_refused(#[case] text: &str) {
        assert!(read("page.md", text).is_err());
    }

    #[test]
    fn every_page_is_well_formed() {
        let pages = read_all(&workspace::root().join("docs")).unwrap();
        assert!(pages.iter().any(Page::has_commands));
    }
}
