//! Catalog images whose name follows the version of the cluster (spec catalog-operator 1.9).

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::CATALOG_IMAGE_TEMPLATE;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::{RESOLVED_IMAGE, TEMPLATES_HAVE_RESOLVED};
use olm_types::conditions::set_condition;
use olm_types::image_ref;
use olm_types::reasons::catalog_source as reasons;
use serde_json::json;

use crate::writes::target_of;

/// The variables of a template, in the order in which their values stand in a version.
const VARIABLES: [&str; 3] =
    ["{kube_major_version}", "{kube_minor_version}", "{kube_patch_version}"];
/// What stands for a value that is not known.
const MISSING: &str = "missing";

/// What became of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Resolved {
    image: String,
    /// Variables without a value, in the order of the template.
    unresolved: Vec<&'static str>,
}

/// The write that gives a CatalogSource the image that its template names, if it has another one.
pub(super) fn image_write(catalog: &CatalogSource, version: Option<&str>) -> Option<Effect> {
    let resolved = resolve(template(catalog)?, version);
    let current = catalog.spec.image.as_deref().unwrap_or_default();
    if !resolved.is_usable() || resolved.image == current {
        return None;
    }
    let patch = json!({
        "metadata": {"resourceVersion": catalog.metadata.resource_version},
        "spec": {"image": resolved.image},
    });
    Some(Effect::merge(target_of(catalog), patch, None))
}

/// Whether a CatalogSource has a template.
pub fn has_template(catalog: &CatalogSource) -> bool {
    template(catalog).is_some()
}

/// Puts what became of the template into the conditions, and takes it out where there is none.
pub(super) fn note(
    catalog: &CatalogSource,
    version: Option<&str>,
    conditions: &mut Vec<Condition>,
    now: Timestamp,
) {
    let Some(template) = template(catalog) else {
        conditions
            .retain(|known| ![TEMPLATES_HAVE_RESOLVED, RESOLVED_IMAGE].contains(&&*known.type_));
        return;
    };
    let resolved = resolve(template, version);
    let (status, reason) = if resolved.is_usable() {
        ("True", reasons::ALL_TEMPLATES_RESOLVED)
    } else {
        ("False", reasons::UNABLE_TO_RESOLVE)
    };
    let message = resolved.message();
    for (type_, message) in [(TEMPLATES_HAVE_RESOLVED, message), (RESOLVED_IMAGE, resolved.image)] {
        let type_ = type_.to_owned();
        set_condition(
            conditions,
            Condition {
                type_,
                status: status.to_owned(),
                reason: reason.to_owned(),
                message,
                last_transition_time: Time(now),
                observed_generation: None,
            },
        );
    }
}

fn template(catalog: &CatalogSource) -> Option<&str> {
    catalog.annotations().get(CATALOG_IMAGE_TEMPLATE).map(String::as_str)
}

fn resolve(template: &str, version: Option<&str>) -> Resolved {
    let values = version.and_then(parts);
    let mut found: Vec<_> = VARIABLES
        .iter()
        .filter_map(|variable| template.find(variable).map(|place| (place, *variable)))
        .collect();
    found.sort_unstable();
    let mut image = template.to_owned();
    for (index, variable) in VARIABLES.iter().enumerate() {
        let value = values.as_ref().and_then(|values| values.get(index));
        image = image.replace(variable, value.map_or(MISSING, String::as_str));
    }
    let unresolved = if values.is_some() { Vec::new() } else { found };
    Resolved { image, unresolved: unresolved.into_iter().map(|(_, variable)| variable).collect() }
}

/// Major, minor and patch version of `v1.20.1+bd9e442`.
fn parts(version: &str) -> Option<Vec<String>> {
    let core = version.trim_start_matches('v').split(['+', '-']).next()?;
    let parts: Vec<_> = core.split('.').map(str::to_owned).collect();
    let numbers = parts.iter().all(|part| part.parse::<u64>().is_ok());
    (parts.len() == VARIABLES.len() && numbers).then_some(parts)
}

impl Resolved {
    fn is_usable(&self) -> bool {
        self.unresolved.is_empty() && image_ref::check(&self.image).is_ok()
    }

    fn message(&self) -> String {
        if self.is_usable() {
            return "catalog image reference was successfully resolved".to_owned();
        }
        let start = "cannot construct catalog image reference, because";
        let syntax = "one or more template(s) has improper syntax";
        let names: Vec<_> = self.unresolved.iter().map(|name| format!("\"{name}\"")).collect();
        let variables = format!("variable(s) {} could not be resolved", names.join(", "));
        match (names.is_empty(), image_ref::check(&self.image).is_ok()) {
            (true, _) => format!("{start} {syntax}"),
            (false, true) => format!("{start} {variables}"),
            (false, false) => format!("{start} {variables} and {syntax}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use olm_effect::Action;
    use rstest::rstest;

    use super::*;

    fn catalog(template: Option<&str>, image: &str) -> CatalogSource {
        let mut catalog = CatalogSource::new("c", Default::default());
        catalog.spec.image = Some(image.to_owned());
        let note = |text: &str| (CATALOG_IMAGE_TEMPLATE.to_owned(), text.to_owned());
        catalog.metadata.annotations = template.map(|template| [note(template)].into());
        catalog
    }

    fn conditions(template: Option<&str>, version: Option<&str>) -> Vec<String> {
        let mut all = Vec::new();
        note(&catalog(template, ""), version, &mut all, Timestamp::UNIX_EPOCH);
        all.iter()
            .map(|one| format!("{} {} {}: {}", one.type_, one.status, one.reason, one.message))
            .collect()
    }

    #[rstest]
    #[case("foo/v{kube_major_version}", Some("v1.20.0+bd9e442"), "foo/v1", &[])]
    #[case("foo/v{kube_major_version}.{kube_minor_version}", Some("v1.20.0+bd9e442"), "foo/v1.20", &[])]
    #[case("foo/v{kube_major_version}", None, "foo/vmissing", &["{kube_major_version}"])]
    #[case("foo/v{foobar}", Some("v1.20.0"), "foo/v{foobar}", &[])]
    #[case("foo/v{kube_major_version}.{kube_minor_version}.{kube_patch_version}", Some("v1.20.1+x"), "foo/v1.20.1", &[])]
    #[case("a:{kube_minor_version}-{kube_major_version}", None, "a:missing-missing", &["{kube_minor_version}", "{kube_major_version}"])]
    #[case("foo/v{kube_major_version}", Some("latest"), "foo/vmissing", &["{kube_major_version}"])]
    fn variables(
        #[case] template: &str,
        #[case] version: Option<&str>,
        #[case] image: &str,
        #[case] unresolved: &[&'static str],
    ) {
        let expected = Resolved { image: image.to_owned(), unresolved: unresolved.to_vec() };
        assert_eq!(resolve(template, version), expected);
    }

    #[test]
    fn what_the_conditions_say() {
        let reported = [
            conditions(Some("quay.io/a/b:v{kube_minor_version}"), Some("v1.20.1")),
            conditions(Some("quay.io/a/b:v{kube_minor_version}"), None),
            conditions(Some("quay.io/a/b:v{other}"), Some("v1.20.1")),
            conditions(Some("quay.io/a/b:{other}{kube_minor_version}"), None),
            conditions(None, Some("v1.20.1")),
        ];
        insta::assert_yaml_snapshot!(reported);
    }

    #[test]
    fn the_image_is_written_when_it_is_another_one() {
        let template = Some("quay.io/a/b:v{kube_minor_version}");
        let write = image_write(&catalog(template, "quay.io/a/b:v19"), Some("v1.20.1")).unwrap();
        let Action::MergePatch { patch, .. } = write.action else { panic!("no patch") };
        assert_eq!(patch["spec"], json!({"image": "quay.io/a/b:v20"}));
        assert!(image_write(&catalog(template, "quay.io/a/b:v20"), Some("v1.20.1")).is_none());
        assert!(image_write(&catalog(template, "old"), None).is_none());
        assert!(image_write(&catalog(None, "old"), Some("v1.20.1")).is_none());
    }

    #[test]
    fn without_a_template_its_conditions_go() {
        let mut all = Vec::new();
        note(&catalog(Some("a:{kube_minor_version}"), ""), None, &mut all, Timestamp::UNIX_EPOCH);
        assert_eq!(all.len(), 2);
        note(&catalog(None, ""), None, &mut all, Timestamp::UNIX_EPOCH);
        assert!(all.is_empty());
    }
}
