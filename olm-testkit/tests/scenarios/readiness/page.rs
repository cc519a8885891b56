//! The tables of docs/readiness.md.

use std::fs;

use anyhow::{Context, Result, ensure};

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// The kind that it is about.
    pub(super) kind: &'static str,
    /// What is.
    pub(super) what: String,
    /// Reasons of condition Ready; none where the CSV gives it.
    reasons: Vec<String>,
    /// What kstatus says.
    kstatus: String,
    /// What Argo CD shows.
    pub(super) argo: String,
    /// Whether it is about Subscriptions that have nothing installed.
    pub(super) is_before_installed: bool,
    /// Whether it is about Subscriptions whose InstallPlan has failed: a CSV fails for some of its reasons too.
    pub(super) is_of_failed_plan: bool,
}

impl Row {
    /// Whether the row has this reason and this status.
    pub(super) fn is_for(&self, reason: &str, kstatus: &str) -> bool {
        let named = self.reasons.is_empty() || self.reasons.iter().any(|one| one == reason);
        named && self.kstatus == kstatus
    }

    /// Whether Argo CD may show this, perhaps because of the catalog alone.
    pub(super) fn allows(&self, shown: &str, by_catalog: bool) -> bool {
        self.argo == "as without it"
            || self.argo.split(" or ").any(|one| one == shown)
            || (by_catalog && shown == "Degraded")
    }
}

/// All rows. Those that name reasons come before one that does not.
pub(super) fn rows() -> Result<Vec<Row>> {
    let text =
        fs::read_to_string("../docs/readiness.md").context("cannot read docs/readiness.md")?;
    let mut kind = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        kind = match line {
            "## Subscriptions" => "Subscription",
            "## CatalogSources" => "CatalogSource",
            line if line.starts_with("## ") => "",
            _ => kind,
        };
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let [what, reasons, kstatus, rest @ ..] = cells.as_slice()
            && ["Current", "InProgress", "Failed"].contains(kstatus)
            && !kind.is_empty()
        {
            let reasons = reasons.split(", ").map(str::to_owned);
            rows.push(Row {
                kind,
                what: (*what).to_owned(),
                reasons: reasons.filter(|reason| reason != "its reason").collect(),
                kstatus: (*kstatus).to_owned(),
                is_before_installed: what.contains("nothing is installed"),
                is_of_failed_plan: *what == "the InstallPlan has failed",
                argo: rest.first().copied().unwrap_or_default().to_owned(),
            });
        }
    }
    ensure!(rows.len() > 15, "docs/readiness.md has {} rows", rows.len());
    ensure!(
        rows.iter().any(|row| row.is_of_failed_plan),
        "docs/readiness.md has no row about a failed InstallPlan"
    );
    rows.sort_by_key(|row| row.reasons.is_empty());
    Ok(rows)
}
