//! Previews: where objects come from.

mod checked;
mod live;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use olm_plan::preview::{self, Known, Outcome, Preview, PreviewRequest, ReadRequest};
use olm_types::document::{self, Budget, Meter};
use serde_json::Value;

use crate::catalogs::{Access, Catalogs, Folders, Visible};
use crate::cluster::Cluster;
use crate::contents::Contents;
use crate::notices::Notices;
use crate::reading::Reading;

/// More rounds of reading than any preview needs: each InstallPlan of an upgrade takes a few.
const MOST_ROUNDS: usize = 400;

/// What would happen on a cluster.
///
/// # Errors
/// There is nothing to preview, or what it needs cannot be read.
pub async fn on_cluster(
    cluster: &Cluster,
    asked: &PreviewRequest,
    reading: &Reading,
) -> Result<Preview> {
    let mut reader = live::Reader::new(cluster, asked);
    let reading_objects = format!("reading the objects around namespace {}", asked.namespace);
    let mut known = cluster.notices.slow(&reading_objects, reader.begin()).await?;
    let flags = &reading.sources.catalog;
    let visible = Visible::of(&known, asked);
    let catalogs = match asked.wanted.is_removal() {
        true => Catalogs::of_flags(&visible, &[], &cluster.folders, &cluster.notices).await?,
        false => Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?,
    };
    let bundles = reading.bundles.clone();
    let contents = Contents::of(cluster, &catalogs, &reading.pulling, bundles);
    let finished = finished(asked, &mut known, &contents, Some(&mut reader));
    let mut preview = cluster.notices.slow("reading what the plan needs", finished).await?;
    if !reading.no_server_check {
        let checked = checked::check(cluster, &known, &mut preview);
        let asking = "asking the API server what it would make of each object";
        cluster.notices.slow(asking, checked).await;
    }
    Ok(preview.hashed())
}

/// What would happen, by files alone: the state, as [`read_state`] reads it, and those of the catalogs.
///
/// # Errors
/// A catalog cannot be read, or there is nothing to preview.
pub async fn offline(
    asked: &PreviewRequest,
    state: &Known,
    reading: &Reading,
    notices: &Notices,
) -> Result<Preview> {
    let mut known = state.clone();
    known.server_version.clone_from(&reading.sources.kube_version);
    let visible = Visible::of(&known, asked);
    let (flags, folders) = (&reading.sources.catalog, Folders::default());
    let catalogs = Catalogs::of_flags(&visible, flags, &folders, notices).await?;
    let contents = Contents {
        cluster: None,
        catalogs: &catalogs,
        images: None,
        folder: reading.bundles.clone(),
    };
    let mut preview = finished(asked, &mut known, &contents, None).await?;
    for change in &mut preview.changes {
        change.not_checked = Some("there is none".to_owned());
    }
    Ok(preview.hashed())
}

/// A state: all objects of files, as kubectl prints them.
///
/// # Errors
/// A file cannot be read.
pub fn read_state(files: &[PathBuf]) -> Result<Known> {
    let mut known = Known { is_everything: true, ..Known::default() };
    for file in files {
        let cannot_read = || format!("cannot read {}", file.display());
        let text = fs::read(file).with_context(cannot_read)?;
        let objects = objects(&text, Budget::CATALOG).with_context(cannot_read)?;
        objects.into_iter().for_each(|object| known.add(object));
    }
    Ok(known)
}

/// The objects of a file: each of its documents holds one, a list of them, or nothing.
///
/// # Errors
/// A document cannot be read, or the file costs more than the budget.
pub fn objects(text: &[u8], budget: Budget) -> Result<Vec<Value>> {
    let documents = document::all(text, &mut Meter::in_all(budget))
        .map_err(|(number, error)| anyhow!("document {number}: {error}"))?;
    let objects = documents.into_iter().flat_map(|mut document| {
        match document.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ if document.is_null() => Vec::new(),
            _ => vec![document],
        }
    });
    Ok(objects.collect())
}

/// Reads what the preview needs until it is complete.
async fn finished(
    asked: &PreviewRequest,
    known: &mut Known,
    contents: &Contents<'_>,
    mut reader: Option<&mut live::Reader<'_>>,
) -> Result<Preview> {
    let catalogs = contents.catalogs;
    for _ in 0..MOST_ROUNDS {
        let outcome = preview::preview(asked, known, &catalogs.set);
        let needs = match outcome.map_err(|error| anyhow!("{error}{}", catalogs.unknown()))? {
            Outcome::Preview(preview) => {
                let mut preview = *preview;
                let unread = reader.map(|reader| reader.unread.clone()).unwrap_or_default();
                preview.unknown.extend(catalogs.unread.iter().cloned().chain(unread));
                return Ok(preview);
            }
            Outcome::Needs(needs) => needs,
        };
        let mut targets = Vec::new();
        for need in needs {
            match (need, &mut reader) {
                (ReadRequest::Object(target), Some(_)) => targets.push(target),
                (ReadRequest::Bundle(entry), _) => {
                    let content = contents.read(&entry, known).await;
                    known.bundles.insert(preview::bundle_key(&entry), content);
                }
                (need, Some(reader)) => reader.read(need, known).await?,
                (need, None) => bail!("{need:?} is not in the state"),
            }
        }
        if let Some(reader) = &mut reader {
            reader.objects(targets, known).await?;
        }
    }
    bail!("the preview needs more than {MOST_ROUNDS} rounds of reading")
}
