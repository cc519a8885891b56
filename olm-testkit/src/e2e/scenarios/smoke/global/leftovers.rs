//! What lies in OLM's namespace, which is the same before a catalog and after it.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use tokio::time::{Duration, Instant, sleep};

use crate::dump::{Key, Kinds};
use crate::e2e::Scene;
use crate::wait::PATIENCE;

/// How often it is looked at while the garbage collector is at work.
const LOOK: Duration = Duration::from_millis(500);

/// The objects that were there before.
pub(super) struct Leftovers {
    kinds: Kinds,
    objects: BTreeSet<Key>,
}

impl Leftovers {
    /// Those that are there now.
    pub(super) async fn of(scene: &Scene) -> Result<Self> {
        let kinds = Kinds::discover(&scene.client).await?;
        let objects = objects(scene, &kinds).await?;
        Ok(Self { kinds, objects })
    }

    /// Waits until there are no others.
    pub(super) async fn are_all(&self, scene: &Scene) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = objects(scene, &self.kinds).await?;
            let left: Vec<String> = left.difference(&self.objects).map(Key::to_string).collect();
            if left.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the catalog has left {}", left.join(", "));
            sleep(LOOK).await;
        }
    }
}

async fn objects(scene: &Scene, kinds: &Kinds) -> Result<BTreeSet<Key>> {
    let objects = kinds.objects_in(&scene.client, scene.olm_namespace()?).await?;
    Ok(objects.iter().map(Key::of).collect())
}
