//! What OpenShift's ImageDigestMirrorSets and ImageTagMirrorSets say (`config.openshift.io/v1`).

use serde::Deserialize;
use serde_json::Value;

use super::{Mirror, Mirrors, Rule};
use crate::image::ImageReference;

/// By what an image has to be asked for, for a mirror to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullBy {
    /// Tag or digest.
    Any,
    /// A digest.
    Digest,
    /// A tag.
    Tag,
}

/// A kind of mirror sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorSet {
    /// ImageDigestMirrorSet.
    Digests,
    /// ImageTagMirrorSet.
    Tags,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    image_digest_mirrors: Vec<Entry>,
    image_tag_mirrors: Vec<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    source: String,
    mirrors: Vec<String>,
    mirror_source_policy: String,
}

impl PullBy {
    /// Whether an image is asked for so. One that was asked for by a tag, and is pulled by the digest
    /// that it had, counts as both.
    pub(super) fn fits(self, image: &ImageReference) -> bool {
        match self {
            Self::Any => true,
            Self::Digest => image.digest().is_some(),
            Self::Tag => image.tag().is_some() || image.digest().is_none(),
        }
    }
}

impl Mirrors {
    /// The rules in the spec of an object of this kind; what is malformed in it has none.
    pub fn of_set(kind: MirrorSet, spec: &Value) -> Self {
        let spec = Spec::deserialize(spec).unwrap_or_default();
        let (entries, by) = match kind {
            MirrorSet::Digests => (spec.image_digest_mirrors, PullBy::Digest),
            MirrorSet::Tags => (spec.image_tag_mirrors, PullBy::Tag),
        };
        let named = entries.into_iter().filter(|entry| !entry.source.is_empty());
        let rules = named.map(|entry| Rule {
            blocked: entry.mirror_source_policy == "NeverContactSource",
            mirrors: entry
                .mirrors
                .into_iter()
                .map(|location| Mirror { location, without_tls: false, by })
                .collect(),
            location: if entry.source.starts_with("*.") {
                String::new()
            } else {
                entry.source.clone()
            },
            prefix: entry.source,
            without_tls: false,
        });
        Self(rules.collect()).merged()
    }

    /// One rule for each prefix.
    fn merged(self) -> Self {
        self.0.into_iter().fold(Self::default(), |all, rule| all.with(Self(vec![rule])))
    }
}
