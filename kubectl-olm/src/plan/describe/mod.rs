//! A preview for a reader: what is installed and why, rights and CRDs, then every object.

use std::fmt::{self, Write};

use olm_client::clean::cell;
use olm_plan::preview::change::Field;
use olm_plan::preview::permissions::right;
use olm_plan::preview::result::{Bundle, CrdVerdict, Hop};
use olm_plan::preview::{Action, Change, Preview};

use crate::args::Operands;

/// More fields of one object are counted, not shown.
const FIELDS: usize = 12;

/// The text of a preview, with what becomes of custom resources. Each value is on one line, whatever it holds.
pub fn describe(preview: &Preview, operands: Operands) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(preview, operands, &mut text);
    text
}

fn write(preview: &Preview, operands: Operands, out: &mut String) -> fmt::Result {
    let Preview { action, package, namespace, .. } = preview;
    writeln!(out, "{action} {} in namespace {}", cell(package), cell(namespace))?;
    for (place, hop) in preview.hops.iter().enumerate() {
        write_hop(place + 1, hop, out)?;
    }
    for (name, why) in &preview.refused {
        writeln!(out, "Refused for {}: {}", cell(name), cell(why))?;
    }
    for (name, why) in &preview.blocked {
        writeln!(out, "Held back for {}: {}", cell(name), cell(why))?;
    }
    list(out, "The same approval approves:", &preview.also_approved)?;
    list(out, "Problems:", &preview.problems)?;
    write_rights(preview, out)?;
    write_crds(&preview.crds, out)?;
    list(out, operands_title(operands), &preview.operands)?;
    list(out, "Subscriptions that nothing else needs:", &preview.unused)?;
    list(out, "New images:", &preview.images.gained)?;
    list(out, "Images no longer used:", &preview.images.lost)?;
    write_changes(preview, out)?;
    list(out, "Notes:", &preview.notes)?;
    for unknown in &preview.unknown {
        writeln!(out, "unknown: {}", cell(unknown))?;
    }
    let count = |action| preview.changes.iter().filter(|change| change.action == action).count();
    let [created, changed, anew, deleted] =
        [Action::Create, Action::Change, Action::Replace, Action::Delete].map(count);
    writeln!(
        out,
        "{created} to create, {changed} to change, {anew} to replace, {deleted} to delete"
    )?;
    writeln!(out, "plan hash {}", preview.plan_hash)
}

fn operands_title(operands: Operands) -> &'static str {
    match operands {
        Operands::Keep => "Custom resources that stay:",
        Operands::Abort => "Custom resources, for which nothing is removed:",
        Operands::Delete => "Custom resources that are deleted, too:",
    }
}

fn list(out: &mut String, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    lines.iter().try_for_each(|line| writeln!(out, "  {}", cell(line)))
}

fn write_hop(number: usize, hop: &Hop, out: &mut String) -> fmt::Result {
    let waits = match hop.waits() {
        true => "waits for approval",
        false if hop.is_approved => "approved by annotations of its Subscriptions",
        false => "needs no approval",
    };
    writeln!(out, "InstallPlan {number} ({waits}) installs:")?;
    hop.bundles.iter().try_for_each(|bundle| write_bundle(bundle, out))
}

fn write_bundle(bundle: &Bundle, out: &mut String) -> fmt::Result {
    write!(out, "  {}", cell(&bundle.csv))?;
    if let Some(version) = &bundle.version {
        write!(out, " (version {})", cell(version))?;
    }
    write!(out, " from {}, channel {}", cell(&bundle.catalog), cell(&bundle.channel))?;
    if let Some(old) = &bundle.replaces {
        write!(out, ", replaces {}", cell(old))?;
    }
    writeln!(out, "{}", if bundle.is_dependency { ", as a dependency" } else { "" })?;
    bundle.because.iter().try_for_each(|why| writeln!(out, "    because: {}", cell(why)))?;
    bundle.deprecated.iter().try_for_each(|text| writeln!(out, "    deprecated: {}", cell(text)))
}

fn write_rights(preview: &Preview, out: &mut String) -> fmt::Result {
    let rights = &preview.rights;
    let lines: Vec<String> = rights.reaches.iter().map(|reach| format!("! {reach}")).collect();
    list(out, "Reaches beyond the operator:", &lines)?;
    list(out, "Rights gained:", &rights.gained.iter().map(right).collect::<Vec<_>>())?;
    list(out, "Rights lost:", &rights.lost.iter().map(right).collect::<Vec<_>>())
}

fn write_crds(crds: &[CrdVerdict], out: &mut String) -> fmt::Result {
    list(out, "CRDs:", &crds.iter().map(CrdVerdict::line).collect::<Vec<_>>())
}

/// Every object, and who did not check it.
fn write_changes(preview: &Preview, out: &mut String) -> fmt::Result {
    if preview.changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "Objects:")?;
    preview.changes.iter().try_for_each(|change| write_change(change, out))?;
    preview.copies.iter().try_for_each(|copies| {
        let (mark, csv, count) = (copies.action.mark(), cell(&copies.csv), copies.namespaces);
        writeln!(out, "  {mark:<3} copies of ClusterServiceVersion {csv} in {count} namespaces")
    })
}

fn write_change(change: &Change, out: &mut String) -> fmt::Result {
    let Change { action, fields, .. } = change;
    let place = cell(&change.place());
    let mark = if change.not_checked.is_some() { " (not checked by the API server)" } else { "" };
    writeln!(out, "  {:<3} {place}{mark}", action.mark())?;
    let mut lines = fields.iter().take(FIELDS).filter_map(Field::line);
    lines.try_for_each(|line| writeln!(out, "        {}", cell(&line)))?;
    match fields.len().saturating_sub(FIELDS) {
        0 => Ok(()),
        more => writeln!(out, "        and {more} more fields; -o json has all"),
    }
}

#[cfg(test)]
mod tests;
