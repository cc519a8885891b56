//! A page, command by command.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::page::{BlockKind, Command, Page};
use super::pattern::matches;
use super::report::Outcome;
use super::setup::Setup;

/// How long a question may have another answer than the page says: operators take their time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(300);

/// Verbs of kubectl that change nothing, so that they can be repeated until the answer is right.
const QUESTIONS: [&str; 2] = ["get", "describe"];

/// Plays a page. What follows a failed command on the page is not run: it builds on it.
pub(super) async fn page(page: &Page, setup: &Setup) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for block in &page.blocks {
        match &block.what {
            BlockKind::File { name, text } => {
                std::fs::write(setup.folder().join(name), text)
                    .with_context(|| format!("cannot write {name}"))?;
            }
            BlockKind::NotRun { .. } => outcomes.extend(block.left_out(&page.name)),
            BlockKind::Commands(commands) => {
                for command in commands {
                    let place = format!("{}:{}", page.name, block.line);
                    let outcome = play(command, setup, place).await?;
                    let failed = matches!(outcome, Outcome::Failed { .. });
                    outcomes.push(outcome);
                    if failed {
                        return Ok(outcomes);
                    }
                }
            }
        }
    }
    Ok(outcomes)
}

async fn play(command: &Command, setup: &Setup, place: String) -> Result<Outcome> {
    let begun = Instant::now();
    let is_question = is_question(&command.text);
    loop {
        let (good, output) = setup.run(&command.text)?;
        if good && matches(&command.prints, &output) {
            return Ok(Outcome::Passed);
        }
        if !is_question || begun.elapsed() > TIMEOUT {
            let ended = if good { "it printed" } else { "it failed and printed" };
            let what = format!("{ended}:\n{output}\nthe page says:\n{}", command.prints.join("\n"));
            return Ok(Outcome::Failed { place, command: command.text.clone(), what });
        }
        sleep(PAUSE).await;
    }
}

/// Whether the command asks kubectl, and does nothing with the answer but show it.
fn is_question(command: &str) -> bool {
    let mut words = command.split(' ').peekable();
    let is_kubectl = words.next() == Some("kubectl");
    if words.peek() == Some(&"-n") {
        words.nth(1);
    }
    let asks = words.next().is_some_and(|verb| QUESTIONS.contains(&verb));
    is_kubectl && asks && !command.contains("xargs")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::is_question;

    #[rstest]
    #[case("kubectl get pods", true)]
    #[case("kubectl -n shop get pods -o name | sort", true)]
    #[case("kubectl -n shop delete pod a", false)]
    #[case("kubectl get pods -o name | xargs kubectl delete", false)]
    #[case("get pods", false)]
    fn questions_are_known(#[case] command: &str, #[case] expected: bool) {
        assert_eq!(is_question(command), expected);
    }
}
