//! Where images may be found beside the registry that their name says: mirrors.
//!
//! The rules are those of `registries.conf` of the second version (containers-registries.conf(5)):
//! of all rules the one with the longest fitting prefix counts; its mirrors are asked in their order,
//! and then the place that the name stands for, unless that is blocked.

mod config;
mod openshift;

pub use config::ConfigError;
pub use openshift::MirrorSet;
use openshift::PullBy;

use super::{ImageReference, ReferenceError};

/// Rules about mirrors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<Rule>);

/// Where an image may be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// The image under the name that it has there.
    pub(super) image: ImageReference,
    /// Whether the registry there is asked without TLS in any case.
    pub(super) without_tls: bool,
}

/// What is said about images whose names begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// `host[:port][/path]`, or `*.domain`.
    prefix: String,
    /// What the prefix stands for.
    location: String,
    without_tls: bool,
    blocked: bool,
    mirrors: Vec<Mirror>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mirror {
    /// What the prefix stands for there.
    location: String,
    without_tls: bool,
    by: PullBy,
}

impl Mirrors {
    /// These rules and others. Where both have one about the same prefix, mirrors of the others come
    /// behind.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        for other in others.0 {
            match self.0.iter_mut().find(|rule| rule.prefix == other.prefix) {
                Some(rule) => {
                    rule.mirrors.extend(other.mirrors);
                    rule.blocked |= other.blocked;
                }
                None => self.0.push(other),
            }
        }
        self
    }

    /// Where an image may be found, the first place first; nowhere when it is blocked.
    ///
    /// # Errors
    /// A rule makes something of its name that is no image.
    pub(super) fn endpoints(
        &self,
        image: &ImageReference,
    ) -> Result<Vec<Endpoint>, ReferenceError> {
        let Some(rule) = self.rule(image) else {
            return Ok(vec![Endpoint { image: image.clone(), without_tls: false }]);
        };
        let mirrors = rule.mirrors.iter().filter(|mirror| mirror.by.fits(image));
        let mirrors = mirrors.map(|mirror| (mirror.location.as_str(), mirror.without_tls));
        let source = (!rule.blocked).then_some((rule.location.as_str(), rule.without_tls));
        let places = mirrors.chain(source).map(|(location, without_tls)| {
            let image = rule.rewritten(image, location)?;
            Ok(Endpoint { image, without_tls })
        });
        let mut places: Vec<Endpoint> = places.collect::<Result<_, _>>()?;
        // What a rule leads to may be blocked by another one.
        places.retain(|place| place.image == *image || !self.is_blocked(&place.image));
        Ok(places)
    }

    fn is_blocked(&self, image: &ImageReference) -> bool {
        self.rule(image).is_some_and(|rule| rule.blocked)
    }

    /// The rule with the longest prefix that fits.
    fn rule(&self, image: &ImageReference) -> Option<&Rule> {
        let fitting = self.0.iter().filter(|rule| rule.fits(image));
        fitting.max_by_key(|rule| rule.prefix.len())
    }
}

impl Rule {
    fn fits(&self, image: &ImageReference) -> bool {
        if let Some(domain) = self.prefix.strip_prefix("*.") {
            let below = image.host().strip_suffix(domain);
            return below.is_some_and(|below| below.ends_with('.') && below.len() > 1);
        }
        let name = image.name();
        let rest = name.strip_prefix(self.prefix.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The image with a location in place of the prefix.
    fn rewritten(
        &self,
        image: &ImageReference,
        location: &str,
    ) -> Result<ImageReference, ReferenceError> {
        if location.is_empty() {
            return Ok(image.clone());
        }
        let name = image.name();
        let rest = match self.prefix.starts_with("*.") {
            true => name.strip_prefix(image.host()),
            false => name.strip_prefix(self.prefix.as_str()),
        };
        image.renamed(&format!("{location}{}", rest.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
