//! The content of a hosted catalog: taken from the disk, or pulled.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use olm_catalog::fbc::ReadLimits;
use olm_catalog::index::Index;
use olm_catalog::store::{
    CatalogStore, PullError, PullOptions, Pulled, StoredContent, confirm, pull,
};
use olm_kit::tasks::blocking;
use olm_lifecycle::catalog_source::hosting::{HostedContent, PullFailure, Target};
use tokio::time::timeout;

use super::Shared;
use super::hosted::{DesiredContent, Hosted};
use super::work::{failure, of_image};

/// How long a registry may take to give out a manifest, credentials and redirects included.
const CONFIRM: Duration = Duration::from_secs(30);

/// Shows what the catalog has on the disk: the content that counts, else what it had last. So a process
/// that starts again serves at once, whatever the registry does.
pub(super) async fn restore(shared: &Shared, hosted: &Hosted, target: &Target) {
    let recorded = target.recorded.as_ref().map(|record| StoredContent {
        image: record.image.clone(),
        digest: record.digest.clone(),
        folder: target.folder.clone(),
    });
    let started = std::time::Instant::now();
    let (store, key) = (shared.store.clone(), hosted.key.clone());
    let found = blocking(move || {
        let had = store.recorded(&key)?;
        // What another catalog had pulled is not this one's for being named in an EndpointSlice.
        let recorded = recorded.filter(|held| had.names(&held.key()));
        let all = [recorded, Some(had.current), had.previous];
        all.into_iter().flatten().find_map(|held| open(&store, &held).map(|found| (held, found)))
    });
    let Ok(Some((held, (index, pulled_at)))) = found.await else { return };
    let digest = held.digest.clone();
    show(shared, hosted, held, index, pulled_at, None).await;
    let seconds = started.elapsed().as_secs_f64();
    tracing::info!(catalog = %hosted.key, digest, seconds, "catalog is served from the disk");
}

/// Gets the content of a digest.
pub(super) async fn obtain(
    shared: &Shared,
    hosted: &Hosted,
    wanted: &DesiredContent,
    digest: &str,
) -> Result<(), PullFailure> {
    let target = &wanted.target;
    let (image, folder) = (target.image.clone(), target.folder.clone());
    let held = StoredContent { image, digest: digest.to_owned(), folder };
    let _one_of_this = shared.pull_locks.enter(&hosted.key.namespace, held.key()).await;
    if take(shared, hosted, wanted, &held).await? {
        return Ok(());
    }
    let _place = shared.slots.wait(&hosted.key.namespace).await;
    let _one_of_all = shared.pulls.acquire().await;
    // A catalog of another namespace may have pulled it meanwhile.
    if take(shared, hosted, wanted, &held).await? {
        return Ok(());
    }
    let started = std::time::Instant::now();
    let pulled = pulled(shared, hosted, wanted, &held).await;
    shared.metrics.pulled(&hosted.key, started.elapsed(), pulled.is_ok());
    let Pulled { index, snapshot } = pulled?;
    let entries = snapshot.entries().len();
    tracing::info!(catalog = %hosted.key, digest, entries, "catalog was pulled");
    show(shared, hosted, held, index, crate::clock::now(), Some(snapshot)).await;
    Ok(())
}

/// Shows content that is on the disk, if it is. What is there because another catalog had it pulled takes the same
/// right at the registry as a pull.
async fn take(
    shared: &Shared,
    hosted: &Hosted,
    wanted: &DesiredContent,
    held: &StoredContent,
) -> Result<bool, PullFailure> {
    let (store, key, content) = (shared.store.clone(), hosted.key.clone(), held.clone());
    let found = blocking(move || {
        let is_its_own = store.recorded(&key).is_some_and(|had| had.names(&content.key()));
        Some((open(&store, &content)?, is_its_own))
    });
    let Some(((index, pulled_at), is_its_own)) = found.await.ok().flatten() else {
        return Ok(false);
    };
    if !is_its_own {
        confirmed(shared, wanted, held).await?;
    }
    show(shared, hosted, held.clone(), index, pulled_at, None).await;
    Ok(true)
}

/// Whether the catalog may pull what it is to have.
async fn confirmed(
    shared: &Shared,
    wanted: &DesiredContent,
    held: &StoredContent,
) -> Result<(), PullFailure> {
    let keychain = shared.secrets.keychain(&wanted.account).await;
    let asked = timeout(CONFIRM, confirm(&shared.registry, held, &keychain)).await;
    let error = match asked {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error,
        Err(_) => PullError::Late(CONFIRM),
    };
    Err(refused(held, &error))
}

/// The failure that an error about content is.
fn refused(held: &StoredContent, error: &PullError) -> PullFailure {
    let (image, digest) = (&held.image, Some(held.digest.as_str()));
    match error {
        PullError::Image(error) => of_image(image, digest, error),
        other => failure(image, digest, other.reason(), other.to_string()),
    }
}

async fn pulled(
    shared: &Shared,
    hosted: &Hosted,
    wanted: &DesiredContent,
    held: &StoredContent,
) -> Result<Pulled, PullFailure> {
    let options = PullOptions {
        catalog: hosted.key.clone(),
        content: held.clone(),
        keychain: shared.secrets.keychain(&wanted.account).await,
        limits: shared.options.limits,
        read: ReadLimits::BESIDE,
        time: PullOptions::TIME,
    };
    let pulled = pull(&shared.store, &shared.registry, options).await;
    shared.metrics.stored(shared.store.bytes());
    pulled.map_err(|error| refused(held, &error))
}

async fn show(
    shared: &Shared,
    hosted: &Hosted,
    held: StoredContent,
    index: Index,
    pulled_at: Timestamp,
    snapshot: Option<olm_catalog::snapshot::CatalogSnapshot>,
) {
    let content = HostedContent {
        image: held.image.clone(),
        digest: held.digest.clone(),
        folder: held.folder.clone(),
        pulled_at,
    };
    shared.metrics.shown(&hosted.key, pulled_at);
    hosted.show(content, Arc::new(index), snapshot);
    if let Some(served) = hosted.served() {
        shared.ports.show(&hosted.key, &served);
    }
    let (store, key) = (shared.store.clone(), hosted.key.clone());
    let recorded = blocking(move || store.record(&key, &held)).await;
    if !matches!(recorded, Ok(Ok(()))) {
        tracing::warn!(catalog = %hosted.key, ?recorded, "the content of a catalog is not recorded");
    }
    (shared.changed)(&hosted.key);
}

/// The content on the disk, and when it was pulled.
fn open(store: &CatalogStore, held: &StoredContent) -> Option<(Index, Timestamp)> {
    let key = held.key();
    let index = store.index(&key).unwrap_or_else(|error| {
        tracing::warn!(%error, "a catalog on the disk cannot be read");
        None
    })?;
    let pulled_at = store.pulled_at(&key).and_then(|at| Timestamp::try_from(at).ok());
    let pulled_at = pulled_at.and_then(|at| Timestamp::from_second(at.as_second()).ok());
    Some((index, pulled_at.unwrap_or_default()))
}
