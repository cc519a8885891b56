//! A page, command by command.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::page::{Command, Page, What};
use super::pattern::matches;
use super::report::Outcome;
use super::stage::Stage;

/// How long a question may have another answer than the page says: operators take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(300);

/// Commands that change nothing, so that they can be repeated until the answer is right.
const QUESTIONS: [&str; 3] = ["kubectl get ", "kubectl describe ", "curl "];

/// Plays a page. What follows a failed command on the page is not run: it builds on it.
pub(super) async fn page(page: &Page, stage: &Stage) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for block in &page.blocks {
        match &block.what {
            What::File { name, text } => {
                std::fs::write(stage.folder().join(name), text)
                    .with_context(|| format!("cannot write {name}"))?;
            }
            What::NotRun { .. } => outcomes.extend(block.left_out(&page.name)),
            What::Commands(commands) => {
                for command in commands {
                    let place = format!("{}:{}", page.name, block.line);
                    let outcome = play(command, stage, place).await?;
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

async fn play(command: &Command, stage: &Stage, place: String) -> Result<Outcome> {
    let begun = Instant::now();
    let is_question = QUESTIONS.iter().any(|start| command.text.starts_with(start));
    loop {
        let (good, output) = stage.run(&command.text)?;
        if good && matches(&command.prints, &output) {
            return Ok(Outcome::Passed);
        }
        if !is_question || begun.elapsed() > PATIENCE {
            let ended = if good { "it printed" } else { "it failed and printed" };
            let what = format!("{ended}:\n{output}\nthe page says:\n{}", command.prints.join("\n"));
            return Ok(Outcome::Failed { place, command: command.text.clone(), what });
        }
        sleep(PAUSE).await;
    }
}
