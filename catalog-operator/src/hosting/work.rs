//! The task of one hosted catalog: what is on the disk, then step by step what `next_step` says.

use std::sync::{Arc, Weak};
use std::time::Duration;

use olm_catalog::image::{ImageError, ImageReference};
use olm_lifecycle::catalog_source::hosting::{NextStep, PullFailure, Target, next_step};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::hosted::{DesiredContent, Hosted};
use super::{Shared, content};
use crate::clock;

/// How long a registry may take to say the digest of an image, credentials and redirects included.
const RESOLVE: Duration = Duration::from_secs(20);
/// Longest message about a failure, in characters: it stands in a condition.
const MESSAGE: usize = 1_000;

/// Runs until the catalog is not hosted any more.
pub(super) async fn run(shared: Arc<Shared>, hosted: Weak<Hosted>) {
    let Some(mut wanted) = hosted.upgrade().map(|hosted| hosted.wanted.subscribe()) else { return };
    if let Some(hosted) = hosted.upgrade() {
        let target = wanted.borrow().target.clone();
        content::restore(&shared, &hosted, &target).await;
    }
    loop {
        let now = wanted.borrow_and_update().clone();
        let Some(current) = hosted.upgrade() else { return };
        let step = next_step(&current.pulling(now.target.clone()), clock::now());
        let waits = matches!(step, NextStep::Wait(_) | NextStep::Idle);
        let worked = async {
            match step {
                NextStep::Resolve => resolve(&shared, &current, &now).await,
                NextStep::Obtain(digest) => obtain(&shared, &current, &now, &digest).await,
                NextStep::Wait(time) => sleep(time.max(Duration::from_secs(1))).await,
                NextStep::Idle => std::future::pending().await,
            }
        };
        tokio::select! {
            () = worked => {}
            () = until_other(&mut wanted, &now, waits) => {}
        }
    }
}

/// Returns when what is wanted became something else: for one who waits anything, for one who is at
/// work another content.
async fn until_other(
    wanted: &mut watch::Receiver<DesiredContent>,
    before: &DesiredContent,
    waits: bool,
) {
    let content = |target: &Target| {
        (target.image.clone(), target.pinned.clone(), target.folder.clone(), target.leads)
    };
    loop {
        if wanted.changed().await.is_err() {
            return;
        }
        if waits || content(&wanted.borrow().target) != content(&before.target) {
            wanted.mark_changed();
            return;
        }
    }
}

async fn resolve(shared: &Shared, hosted: &Hosted, wanted: &DesiredContent) {
    let image = &wanted.target.image;
    let found = timeout(RESOLVE, digest(shared, wanted)).await;
    let found = found.unwrap_or_else(|_| Err(late(image)));
    shared.metrics.looked(&hosted.key, found.is_ok());
    match found {
        Ok(digest) => {
            if hosted.note_resolved(image, digest) {
                (shared.changed)(&hosted.key);
            }
        }
        Err(failure) => {
            hosted.fail(failure);
            (shared.changed)(&hosted.key);
        }
    }
}

async fn digest(shared: &Shared, wanted: &DesiredContent) -> Result<String, PullFailure> {
    let image = reference(&wanted.target.image)?;
    let keychain = shared.secrets.keychain(&wanted.account).await;
    let found = shared.registry.digest(&image, &keychain).await;
    found.map_err(|error| of_image(&wanted.target.image, None, &error))
}

async fn obtain(shared: &Shared, hosted: &Hosted, wanted: &DesiredContent, digest: &str) {
    match content::obtain(shared, hosted, wanted, digest).await {
        Ok(()) => {}
        Err(failure) => hosted.fail(failure),
    }
    (shared.changed)(&hosted.key);
}

fn reference(image: &str) -> Result<ImageReference, PullFailure> {
    image.parse().map_err(|error: olm_catalog::image::ReferenceError| {
        failure(image, None, "ImageInvalid", error.to_string())
    })
}

/// The failure that an error about an image is.
pub(super) fn of_image(image: &str, digest: Option<&str>, error: &ImageError) -> PullFailure {
    // How long it is to be waited changes from one answer to the next.
    let message = match error {
        ImageError::Limited { host, .. } => format!("the registry {host} asks for a pause"),
        error => error.to_string(),
    };
    let retry_after = error.retry_after().map_or(0, |after| after.as_secs().saturating_add(1));
    PullFailure { retry_after, ..failure(image, digest, error.reason(), message) }
}

pub(super) fn failure(
    image: &str,
    digest: Option<&str>,
    reason: &'static str,
    message: String,
) -> PullFailure {
    PullFailure {
        image: image.to_owned(),
        digest: digest.map(str::to_owned),
        reason,
        message: message.chars().take(MESSAGE).collect(),
        attempts: 0,
        at: clock::now(),
        retry_after: 0,
    }
}

fn late(image: &str) -> PullFailure {
    let message = format!("the registry did not say the digest within {} s", RESOLVE.as_secs());
    failure(image, None, "RegistryUnavailable", message)
}
