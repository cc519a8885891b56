//! How the API server serves a kind, and how objects of a kind are asked for that no Rust type has.

use anyhow::Result;
use kube::api::{Api, ApiResource, DynamicObject};
use olm_effect::Resource;
use olm_lifecycle::install_plan::execution::Served;
use olm_types::gvk::Gvk;

use crate::cluster::{Cluster, is_not_found};

/// The longest part of an address of the API server.
const LONGEST: usize = 253;

impl Cluster {
    /// How the API server serves a kind. That it serves no such group, version or kind is an answer.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub(crate) async fn served(&self, kind: &Gvk) -> Result<Served> {
        // Kinds come from manifests of others.
        let has_group = kind.group.is_empty() || is_segment(&kind.group);
        let can_be_served = has_group && is_segment(&kind.version);
        if !can_be_served {
            return Ok(Served::NoGroup);
        }
        let version = kind.api_version();
        let listed = match kind.group.as_str() {
            "" => self.answer(self.client.list_core_api_resources(&version)).await,
            _ => self.answer(self.client.list_api_group_resources(&version)).await,
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) if is_not_found(&error) => return Ok(Served::NoGroup),
            Err(error) => return Err(error),
        };
        // Subresources have the kind of their object, and a slash in their name.
        let is_wanted = |name: &str, of: &str| of == kind.kind && !name.contains('/');
        let found = listed.resources.iter().find(|one| is_wanted(&one.name, &one.kind));
        Ok(found.map_or(Served::NoKind, |one| Served::Kind {
            resource: Resource::new(&kind.group, &kind.version, &kind.kind, &one.name),
            namespaced: one.namespaced,
        }))
    }

    /// The objects of a kind in a namespace; in all of them, or those of the cluster, without one.
    pub(crate) fn objects(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Api<DynamicObject> {
        let kind = ApiResource {
            group: resource.group.clone(),
            version: resource.version.clone(),
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            plural: resource.plural.clone(),
        };
        match namespace.filter(|namespace| !namespace.is_empty()) {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &kind),
            None => Api::all_with(self.client.clone(), &kind),
        }
    }
}

/// Whether a text stays one part of an address.
pub(crate) fn is_segment(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    !text.is_empty()
        && text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::group("operators.coreos.com", true)]
    #[case::version("v1alpha1", true)]
    #[case::nothing("", false)]
    #[case::path("a/b", false)]
    #[case::upwards("..", false)]
    #[case::query("v1?a", false)]
    #[case::upper_case("V1", false)]
    fn a_segment_leads_nowhere_else(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_segment(text), expected);
    }
}
