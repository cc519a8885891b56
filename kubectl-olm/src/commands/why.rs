//! `why`: who needs an operator, and why there is no newer one.

use std::fmt::{self, Write};

use anyhow::Result;
use olm_client::Cluster;
use olm_client::clean::cell;
use olm_client::cluster::one_namespace;
use olm_client::operator::{Reasons, reasons, reasons_offline};
use olm_plan::why::Why as Answer;

use crate::Outcome;
use crate::args::{Format, WhyArgs};
use crate::output::{Kind, Output};

/// Answers for a cluster.
pub async fn run(cluster: &Cluster, all: bool, asked: &WhyArgs, output: Output) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    print(&reasons(cluster, home, &asked.operator, &asked.sources).await?, output)
}

/// Answers by files alone.
pub async fn offline(namespace: Option<&str>, asked: &WhyArgs, output: Output) -> Result<Outcome> {
    let notices = Output::notices();
    let found = reasons_offline(namespace, &asked.operator, &asked.sources, &notices).await?;
    print(&found, output)
}

fn print(answer: &Reasons, output: Output) -> Result<Outcome> {
    let found = &answer.why;
    match output.format() {
        Format::Table | Format::Wide | Format::Text => output.print(&describe(found))?,
        Format::Name => {
            output.print(&format!("subscription.operators.coreos.com/{}\n", found.subscription))?
        }
        _ => output.object(Kind::Why, found)?,
    }
    for unread in &answer.unread {
        Output::complain(&format!("unknown: {unread}"));
    }
    Ok(if answer.unread.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
}

fn describe(found: &Answer) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(found, &mut text);
    text
}

fn write(found: &Answer, out: &mut String) -> fmt::Result {
    let installed = found.installed.as_deref().unwrap_or("nothing");
    let (package, installed) = (cell(&found.package), cell(installed));
    writeln!(out, "{package} in namespace {}, installed: {installed}", cell(&found.namespace))?;
    writeln!(out, "Why it is there:")?;
    match &found.generated_by {
        Some(plan) => {
            let plan = cell(plan);
            writeln!(out, "  InstallPlan {plan} has made its Subscription, for a dependency")?;
        }
        None => writeln!(out, "  Subscription {} asks for it", cell(&found.subscription))?,
    }
    for needed in &found.needed_by {
        writeln!(out, "  {}", cell(&needed.line()))?;
    }
    for need in &found.needs {
        writeln!(out, "  It requires {}", cell(&need.line()))?;
    }
    writeln!(out, "Why there is no newer one:")?;
    writeln!(out, "  {}", found.verdict.sentence())?;
    let lists = [
        ("next: ", &found.next),
        ("", &found.reasons),
        ("would help: ", &found.repairs),
        ("newer in channel ", &found.elsewhere),
        ("OLM says ", &found.says),
    ];
    for (before, lines) in lists {
        lines.iter().try_for_each(|line| writeln!(out, "  {before}{}", cell(line)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use olm_plan::why::{Need, NeededBy, UpgradeState};

    use super::*;
    use crate::output::assert_described;

    fn answer() -> Answer {
        Answer {
            namespace: "ns".to_owned(),
            subscription: "s".to_owned(),
            package: "a".to_owned(),
            channel: None,
            installed: Some("a.v1".to_owned()),
            generated_by: None,
            needed_by: vec![NeededBy {
                csv: "b.v1".to_owned(),
                requires: "providing x".to_owned(),
                also: Vec::new(),
            }],
            needs: Vec::new(),
            verdict: UpgradeState::Blocked,
            next: vec!["a.v2".to_owned()],
            reasons: vec!["z is missing\u{1b}".to_owned()],
            repairs: vec!["add z".to_owned()],
            elsewhere: vec!["fast: a.v3".to_owned()],
            says: Vec::new(),
        }
    }

    #[test]
    fn the_schema_describes_an_answer() {
        let generated_by = Some("install-1".to_owned());
        let (requires, provided_by) = ("x".to_owned(), vec!["b.v1".to_owned()]);
        let needs = vec![Need { requires, provided_by }];
        assert_described(Kind::Why, &Answer { generated_by, needs, ..answer() });
    }

    #[test]
    fn an_answer_has_a_line_for_each_reason() {
        let expected = "\
a in namespace ns, installed: a.v1
Why it is there:
  Subscription s asks for it
  b.v1 requires an operator providing x
Why there is no newer one:
  a newer version would follow, and does not fit into the namespace
  next: a.v2
  z is missing\u{fffd}
  would help: add z
  newer in channel fast: a.v3
";
        assert_eq!(describe(&answer()), expected);
    }
}
