//! Who needs whom among CSVs, as far as the CSVs themselves say it.

use olm_types::annotations::PROPERTIES;
use olm_types::api::{ClusterServiceVersion, CrdDescription};
use olm_types::properties::{Requirement, annotation};

use crate::observed::name;

/// Whether a CSV requires what another one, of this package, provides: a CRD, an API, the package itself, or
/// something that is not compared here.
#[must_use]
pub fn needs(csv: &ClusterServiceVersion, other: &ClusterServiceVersion, package: &str) -> bool {
    if name(&csv.metadata) == name(&other.metadata) {
        return false;
    }
    let (required, owned) = (crds(csv, false), crds(other, true));
    let by_kind = required.iter().any(|crd| owned.iter().any(|own| own.name == crd.name));
    by_kind || requires_api(csv, other) || by_property(csv, other, package)
}

fn crds(csv: &ClusterServiceVersion, owned: bool) -> &[CrdDescription] {
    let crds = csv.spec.customresourcedefinitions.as_ref();
    crds.map_or(&[], |crds| if owned { &crds.owned } else { &crds.required })
}

fn requires_api(csv: &ClusterServiceVersion, other: &ClusterServiceVersion) -> bool {
    let apis = |csv: &ClusterServiceVersion| csv.spec.apiservicedefinitions.clone();
    let required = apis(csv).map(|apis| apis.required).unwrap_or_default();
    let owned = apis(other).map(|apis| apis.owned).unwrap_or_default();
    required.iter().any(|api| {
        owned.iter().any(|own| {
            (&own.group, &own.version, &own.kind) == (&api.group, &api.version, &api.kind)
        })
    })
}

/// Whether the catalog said that a CSV requires this package, or something that is not compared here.
fn by_property(csv: &ClusterServiceVersion, other: &ClusterServiceVersion, package: &str) -> bool {
    let annotations = csv.metadata.annotations.as_ref();
    let Some(text) = annotations.and_then(|all| all.get(PROPERTIES)) else { return false };
    let Ok(properties) = annotation::parse(text) else { return true };
    properties.iter().any(|property| match Requirement::of(property) {
        Ok(None) => false,
        Ok(Some(Requirement::Package { name, .. })) => name == package,
        Ok(Some(Requirement::Gvk(gvk))) => crds(other, true).iter().any(|own| {
            own.kind == gvk.kind && own.name.split_once('.').is_some_and(|(_, it)| it == gvk.group)
        }),
        Ok(Some(Requirement::Label(_) | Requirement::Constraint(_))) | Err(_) => true,
    })
}
