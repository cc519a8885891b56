//! `why`: who needs an operator, and why there is no newer one.

use std::fmt::{self, Write};

use anyhow::{Context, Result, bail};
use olm_plan::settings::Settings;
use olm_plan::why::{Question, Why as Answer, why};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription};

use super::search::visible_offline;
use crate::Outcome;
use crate::args::{Format, Why};
use crate::catalogs::{Access, Catalogs, Visible};
use crate::cluster::{Cluster, one_namespace};
use crate::output::{Kind, Output, cell};

/// What is read of the namespace.
struct Read {
    subscriptions: Vec<Subscription>,
    csvs: Vec<ClusterServiceVersion>,
    groups: Vec<OperatorGroup>,
}

/// Answers for a cluster.
pub async fn run(cluster: &Cluster, all: bool, asked: &Why, output: Output) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let settings = cluster.settings(asked.sources.olm_namespace.as_deref()).await?;
    let (visible, unread) = Visible::read(cluster, home, &settings).await?;
    let read = Read {
        subscriptions: listed(cluster, home).await.context("cannot read Subscriptions")?,
        csvs: listed(cluster, home).await.context("cannot read ClusterServiceVersions")?,
        groups: listed(cluster, home).await.unwrap_or_default(),
    };
    let flags = &asked.sources.catalog;
    let mut catalogs = Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?;
    catalogs.unread.extend(unread);
    answer(asked, home, &settings, &read, &catalogs, output)
}

/// Answers by files alone.
pub async fn offline(namespace: Option<&str>, asked: &Why, output: Output) -> Result<Outcome> {
    if asked.sources.state.is_empty() {
        bail!("--offline needs --state: a file with what is in the namespace");
    }
    let home = namespace.unwrap_or("default");
    let (visible, known) = visible_offline(namespace, &asked.sources)?;
    let catalogs = Catalogs::of_flags(&visible, &asked.sources.catalog).await?;
    let is_own = |home_: Option<&String>| home_.is_some_and(|found| found == home);
    let mut read = Read {
        subscriptions: known.typed(Subscription::KIND),
        csvs: known.typed(ClusterServiceVersion::KIND),
        groups: known.typed(OperatorGroup::KIND),
    };
    read.subscriptions.retain(|one| is_own(one.metadata.namespace.as_ref()));
    read.csvs.retain(|one| is_own(one.metadata.namespace.as_ref()));
    read.groups.retain(|one| is_own(one.metadata.namespace.as_ref()));
    answer(asked, home, &Settings::default(), &read, &catalogs, output)
}

async fn listed<K>(cluster: &Cluster, home: &str) -> Result<Vec<K>>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + serde::de::DeserializeOwned
        + fmt::Debug,
{
    cluster.list(&cluster.api(Some(home))).await
}

fn answer(
    asked: &Why,
    home: &str,
    settings: &Settings,
    read: &Read,
    catalogs: &Catalogs,
    output: Output,
) -> Result<Outcome> {
    let found = why(&Question {
        namespace: home,
        operator: &asked.operator,
        subscriptions: &read.subscriptions,
        csvs: &read.csvs,
        groups: &read.groups,
        universe: &catalogs.set,
        settings,
    })?;
    match output.format() {
        Format::Table | Format::Wide | Format::Text => output.print(&describe(&found))?,
        Format::Name => {
            output.print(&format!("subscription.operators.coreos.com/{}\n", found.subscription))?
        }
        _ => output.object(Kind::Why, &found)?,
    }
    for unread in &catalogs.unread {
        Output::complain(&format!("unknown: {unread}"));
    }
    Ok(if catalogs.unread.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
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
        let also = match needed.also.as_slice() {
            [] => String::new(),
            names => format!(", which {} provides, too", names.join(", ")),
        };
        writeln!(
            out,
            "  {} requires an operator {}",
            cell(&needed.csv),
            cell(&(needed.requires.clone() + &also))
        )?;
    }
    for need in &found.needs {
        let by = match need.provided_by.as_slice() {
            [] => "not here".to_owned(),
            names => names.join(", "),
        };
        writeln!(out, "  It requires an operator {}: {}", cell(&need.requires), cell(&by))?;
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
    use olm_plan::why::{Need, NeededBy, Verdict};

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
            verdict: Verdict::Blocked,
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
