//! Bundles of a solution that are in images: unpacked before there is a plan.

use std::time::Duration;

use olm_kit::controller::{Conclusion, ReconcileError};
use olm_lifecycle::install_plan::steps;
use olm_lifecycle::subscription::resolution::{
    Awaited, Choice, Failure, KeptBack, Namespace, Part, Selection, unpack_failed, unpacking,
};
use olm_lifecycle::unpack::lookup::{LookupState, state};
use olm_lifecycle::unpack::{self, AttemptState, UnpackSettings, Unpacked};

use super::reconcile::ResolutionReconciler;
use crate::clock;
use crate::unpack::{Progress, UnpackError};

/// Where the images of a solution stand.
pub(super) enum Images {
    /// All are unpacked.
    Unpacked(Vec<Unpacked>),
    /// Some are not; that was reported.
    Awaited(Conclusion),
}

/// Most bytes of the objects of all unpacked bundles of one plan; of one bundle there are 32 MiB at most.
const ALL_BUNDLES: usize = 64 << 20;

/// Images of one namespace that are on their way at the same time. Each takes a Pod or a slot beside those of
/// other namespaces; the next ones follow when these are unpacked.
const AT_ONCE: usize = 16;

/// Places of one namespace for images that are unpacked at the same time, for all parts of its solution.
#[derive(Debug)]
pub(super) struct UnpackSlots {
    free: usize,
}

impl UnpackSlots {
    /// Those that are left when so many images are on their way.
    fn beside(under_way: usize) -> Self {
        Self { free: AT_ONCE.saturating_sub(under_way) }
    }

    fn is_free(&self) -> bool {
        self.free > 0
    }

    fn take(&mut self) {
        self.free = self.free.saturating_sub(1);
    }
}

/// What came of one look at the images.
#[derive(Default)]
struct UnpackProgress {
    /// Bytes of what is unpacked.
    bytes: usize,
    unpacked: Vec<Unpacked>,
    awaited: Vec<Awaited>,
    problems: Vec<String>,
    look_again: Option<Duration>,
    /// Whether an image waits for a slot.
    has_held: bool,
}

impl ResolutionReconciler {
    /// Brings images nearer to being unpacked, and reports how they are. The outer error is a
    /// refused write, the inner one is reported on the Subscriptions. What begins takes one of `slots`.
    pub(super) async fn unpack(
        &self,
        namespace: &Namespace,
        selection: &Selection,
        slots: &mut UnpackSlots,
    ) -> Result<Result<Images, Failure>, ReconcileError> {
        if !selection.needs_images() {
            return Ok(Ok(Images::Unpacked(Vec::new())));
        }
        let settings =
            match namespace.groups.first().map(|group| unpack::settings(group)).transpose() {
                Ok(settings) => settings.unwrap_or_default(),
                Err(error) => return Ok(Err(Failure::Unpack(error.to_string()))),
            };
        let mut look = UnpackProgress::default();
        for (choice, image) in &selection.images {
            if let Err(failure) = self.look(&mut look, choice, image, &settings, slots).await? {
                return Ok(Err(failure));
            }
        }
        if !look.problems.is_empty() {
            return Ok(Err(Failure::Unpack(aggregate(look.problems))));
        }
        if look.awaited.is_empty() && look.has_held {
            // Those that are on their way bring the namespace back.
            return Ok(Ok(Images::Awaited(Conclusion::Done)));
        }
        if look.awaited.is_empty() {
            return Ok(Ok(Images::Unpacked(look.unpacked)));
        }
        self.report_awaited(namespace, &look, &selection.kept_back)
            .await
            .map(|reported| Ok(Images::Awaited(reported)))
    }

    /// The slots that are left beside all images of the parts that are on their way already, so that these
    /// count wherever they are in the order.
    pub(super) fn unpack_slots(&self, parts: &[Part]) -> UnpackSlots {
        let images = parts.iter().flat_map(|part| &part.selection.images);
        let under_way = images.filter(|(choice, image)| {
            self.bundles.attempt(&choice.entry.catalog, image) == AttemptState::UnderWay
        });
        UnpackSlots::beside(under_way.count())
    }

    async fn look(
        &self,
        look: &mut UnpackProgress,
        choice: &Choice,
        image: &str,
        settings: &UnpackSettings,
        slots: &mut UnpackSlots,
    ) -> Result<Result<(), Failure>, ReconcileError> {
        let entry = &choice.entry;
        let attempt = self.bundles.attempt(&entry.catalog, image);
        if attempt == AttemptState::None && !slots.is_free() {
            look.has_held = true;
            return Ok(Ok(()));
        }
        let bad = |error: steps::BundleError| Failure::Bundle(error.to_string());
        let lookup = match steps::bundle_lookup(entry, image, choice.replaces.as_deref()) {
            Ok(lookup) => lookup,
            Err(error) => return Ok(Err(bad(error))),
        };
        match self.bundles.unpack(lookup, settings, slots.is_free()).await {
            Ok(Progress::Held) => look.has_held = true,
            Ok(Progress::Unpacked(lookup, bundle)) => {
                look.bytes = look.bytes.saturating_add(bundle.bytes());
                if look.bytes > ALL_BUNDLES {
                    return Ok(Err(Failure::Unpack(too_large(&lookup.identifier))));
                }
                match Unpacked::new(lookup, entry.clone(), bundle) {
                    Ok(unpacked) => look.unpacked.push(unpacked),
                    Err(error) => return Ok(Err(bad(error))),
                }
            }
            Ok(Progress::Awaited { awaited, look_again }) => {
                let is_at_work = state(&awaited.lookup) != LookupState::Failed;
                if is_at_work && attempt != AttemptState::UnderWay {
                    slots.take();
                }
                look.awaited.push(awaited);
                look.look_again = look.look_again.into_iter().chain(look_again).min();
            }
            Err(UnpackError::Content(problem)) => look.problems.push(problem),
            Err(UnpackError::Cluster(error)) => return Err(error),
        }
        Ok(Ok(()))
    }

    async fn report_awaited(
        &self,
        namespace: &Namespace,
        look: &UnpackProgress,
        kept_back: &KeptBack,
    ) -> Result<Conclusion, ReconcileError> {
        let failed =
            look.awaited.iter().any(|awaited| state(&awaited.lookup) == LookupState::Failed);
        let effects = match failed {
            true => unpack_failed(namespace, &look.awaited, kept_back, clock::now()),
            false => unpacking(namespace, &look.awaited, kept_back, clock::now()),
        };
        if failed && !effects.is_empty() {
            tracing::warn!(namespace = namespace.name, "a bundle could not be unpacked");
        }
        self.interpreter.act(&effects).await?;
        Ok(look.look_again.map_or(Conclusion::Done, Conclusion::RequeueAfter))
    }
}

fn too_large(bundle: &str) -> String {
    format!(
        "the bundles of the plan, as of {bundle}, have more than {ALL_BUNDLES} bytes of objects together; \
         create Subscriptions for fewer operators at a time"
    )
}

/// Several problems in one line, as v0 has them: one as it is, more in brackets, each once.
fn aggregate(mut problems: Vec<String>) -> String {
    let mut known = std::collections::BTreeSet::new();
    problems.retain(|problem| known.insert(problem.clone()));
    match problems.as_slice() {
        [problem] => problem.clone(),
        problems => format!("[{}]", problems.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_reported_once() {
        let problems = |texts: &[&str]| aggregate(texts.iter().map(|t| (*t).to_owned()).collect());
        assert_eq!(problems(&["a", "a"]), "a");
        assert_eq!(problems(&["b", "a", "b"]), "[b, a]");
    }
}
