//! What lies in OLM's namespace, which is the same before a scenario and after it.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use tokio::time::{Duration, Instant, sleep};

use crate::dump::{Key, Kinds};
use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// How often it is looked at while the garbage collector is at work.
const LOOK: Duration = Duration::from_millis(500);

/// The objects that were there before.
pub(super) struct Leftovers {
    kinds: Kinds,
    objects: BTreeSet<Key>,
}

impl Leftovers {
    /// Those that are there now.
    pub(super) async fn of(ctx: &TestContext) -> Result<Self> {
        let kinds = Kinds::discover(&ctx.client).await?;
        let objects = objects(ctx, &kinds).await?;
        Ok(Self { kinds, objects })
    }

    /// Waits until there are no others.
    pub(super) async fn are_all(&self, ctx: &TestContext) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = objects(ctx, &self.kinds).await?;
            let left: Vec<String> = left.difference(&self.objects).map(Key::to_string).collect();
            if left.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "this is left: {}", left.join(", "));
            sleep(LOOK).await;
        }
    }
}

async fn objects(ctx: &TestContext, kinds: &Kinds) -> Result<BTreeSet<Key>> {
    let objects = kinds.objects_in(&ctx.client, ctx.olm_namespace()?).await?;
    Ok(objects.iter().map(Key::of).collect())
}
