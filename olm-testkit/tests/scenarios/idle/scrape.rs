//! What a scrape of both operators shows: names, types and labels, golden. Values and the values of
//! labels are another matter.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;

/// Labels that the type of a family brings along.
const OF_TYPES: [&str; 2] = ["le", "quantile"];

/// The operators have installed something, refused something, and hold a CSV that failed: every
/// family that such a cluster can have has a series.
pub async fn is_golden(started: &Local) -> Result<()> {
    let mut shapes = String::new();
    for operator in Operator::ALL {
        let text = started.admin(operator)?.metrics().await?;
        shapes.push_str(&format!("== {operator}\n{}", shape(&text)?));
    }
    insta::assert_snapshot!(shapes);
    Ok(())
}

/// A line for each family: name, type, names of labels.
fn shape(metrics: &str) -> Result<String> {
    let mut families: BTreeMap<&str, (&str, BTreeSet<&str>)> = BTreeMap::new();
    let mut family = "";
    for line in metrics.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').context("a type without a name")?;
            families.insert(name, (kind, BTreeSet::new()));
            family = name;
        } else if !line.starts_with('#') {
            ensure!(line.starts_with(family), "{line} is not of the family {family}");
            let (_, labels) = families.get_mut(family).context("a value without a type")?;
            labels.extend(names(line));
        }
    }
    let line = |(name, (kind, labels)): (&str, (&str, BTreeSet<&str>))| {
        let labels: Vec<&str> = labels.into_iter().collect();
        format!("{name} {kind} {}", labels.join(",")).trim_end().to_owned() + "\n"
    };
    Ok(families.into_iter().map(line).collect())
}

/// Names of the labels of a sample. No value of theirs holds an equals sign before a quotation mark.
fn names(sample: &str) -> impl Iterator<Item = &str> {
    let labels = sample.split_once('{').map_or("", |(_, labels)| labels);
    let before = labels.split("=\"").map(|part| part.rsplit([',', '{']).next().unwrap_or(part));
    // The last part holds a value and no name.
    let count = labels.matches("=\"").count();
    before.take(count).filter(|name| !OF_TYPES.contains(name))
}
