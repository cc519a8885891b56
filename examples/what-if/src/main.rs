//! Reports what a namespace would get: `what-if CASE.json`.
//!
//! A case is a namespace with its Subscriptions, installed CSVs and the catalogs that it sees, in the
//! form of [`olm_resolver::cases`]; `case.json` beside this folder is one. The same resolver answers
//! as in the cluster, so what it says here is what would happen there.

use std::fmt::Write;

use anyhow::{Context, Result};
use olm_resolver::cases::Case;
use olm_resolver::{Answer, Policy, Refusal, ResolveError, Resolver};

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).context("usage: what-if CASE.json")?;
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    print!("{}", reported(&text)?);
    Ok(())
}

/// What happens in the namespace of a case.
fn reported(case: &str) -> Result<String> {
    let case = Case::parse(case)?;
    let universe = case.universe()?;
    let request = case.request(&universe)?;
    Ok(words(&Resolver::default().answer(&request, Policy::Isolated)))
}

/// A line for each bundle, and for each group of Subscriptions that gets nothing.
fn words(answer: &Answer) -> String {
    let mut text = String::new();
    for chosen in &answer.resolution.chosen {
        let entry = &chosen.entry;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "install {} from {}", entry.name, entry.catalog);
        for why in &chosen.wanted_by {
            let _ = writeln!(text, "    {why}");
        }
    }
    for refusal in &answer.refusals {
        let _ = writeln!(text, "nothing for {}", refusal.subscriptions.join(", "));
        let _ = writeln!(text, "    {}", reason(refusal));
    }
    text
}

fn reason(refusal: &Refusal) -> String {
    match &refusal.error {
        ResolveError::NotSatisfiable(explanation) => explanation.summary(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gets_two_bundles_and_the_other_learns_why_not() {
        let reported = reported(include_str!("../case.json")).unwrap();
        let lines: Vec<&str> = reported.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(
            lines,
            [
                "install guestbook.v1.1.0 from olm/community",
                "install kvstore.v1.0.0 from olm/community",
                "nothing for printer",
            ]
        );
        assert!(reported.contains("stable"), "it says which channel would help:\n{reported}");
    }

    #[test]
    fn what_is_no_case_is_reported() {
        assert!(reported("{}").unwrap_err().to_string().contains("missing field"));
    }
}
