//! Previews: where catalogs, objects and manifests come from, and how the result reads.

mod bundles;
mod catalogs;
mod describe;
mod live;
mod state;

use std::path::PathBuf;

use anyhow::{Result, bail};
use olm_plan::preview::{self, Asked, Known, Need, Outcome, Preview};

use crate::cluster::Cluster;

pub use catalogs::Catalogs;
pub use describe::describe;

/// More rounds of reading than any preview needs: each InstallPlan of an upgrade takes a few.
const MOST_ROUNDS: usize = 400;

/// Where things are read.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Catalogs: `[NAMESPACE/]NAME=HOST:PORT`, `[NAMESPACE/]NAME=FOLDER`, or a folder with folders
    /// `NAMESPACE/NAME`.
    pub catalogs: Vec<String>,
    /// Files with objects as kubectl prints them.
    pub state: Vec<PathBuf>,
    /// A folder with bundles.
    pub bundles: Option<PathBuf>,
}

/// What would happen on a cluster.
pub async fn on_cluster(cluster: &Cluster, asked: &Asked, sources: &Sources) -> Result<Preview> {
    let mut reader = live::Reader::new(cluster, asked);
    let mut known = reader.begin().await?;
    let catalogs = Catalogs::of_cluster(&known, asked, &sources.catalogs).await?;
    finished(asked, &mut known, &catalogs, sources, Some(&mut reader)).await
}

/// What would happen, by files alone.
pub async fn offline(asked: &Asked, sources: &Sources) -> Result<Preview> {
    let mut known = state::read(&sources.state)?;
    let catalogs = Catalogs::of_flags(&known, asked, &sources.catalogs).await?;
    finished(asked, &mut known, &catalogs, sources, None).await
}

/// Reads what the preview needs until it is complete.
async fn finished(
    asked: &Asked,
    known: &mut Known,
    catalogs: &Catalogs,
    sources: &Sources,
    mut reader: Option<&mut live::Reader<'_>>,
) -> Result<Preview> {
    preview::add_components(known);
    for _ in 0..MOST_ROUNDS {
        let needs = match preview::preview(asked, known, &catalogs.set)? {
            Outcome::Preview(preview) => {
                let mut preview = *preview;
                let unread = reader.map(|reader| reader.unread.clone()).unwrap_or_default();
                preview.unknown.extend(catalogs.unread.iter().cloned().chain(unread));
                return Ok(preview.hashed());
            }
            Outcome::Needs(needs) => needs,
        };
        for need in needs {
            match (need, &mut reader) {
                (Need::Bundle(entry), reader) => {
                    let content = bundles::read(&entry, known, catalogs, sources, reader).await;
                    known.bundles.insert(preview::bundle_key(&entry), content);
                }
                (need, Some(reader)) => reader.read(need, known).await?,
                (need, None) => bail!("{need:?} is not in the state"),
            }
        }
    }
    bail!("the preview needs more than {MOST_ROUNDS} rounds of reading")
}
