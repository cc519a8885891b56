//! How much a CSV may take: its Deployments together, and the look-ups of its APIs.
//!
//! Each of them gets all annotations of the CSV, and each container what the Subscription asks for. A CSV
//! of a megabyte describes thousands of Deployments, or one with tens of thousands of containers: what is
//! made of it would be larger than any operator's memory.

use olm_types::api::{ClusterServiceVersion, StrategyDeploymentSpec};
use serde_json::Value;

use super::deployment::StrategyError;
use super::overrides::Overrides;

/// Most bytes of what is added to the Deployments, in memory and about.
pub(super) const MOST: usize = 32 << 20;

/// Most APIs that a CSV names as served by the cluster or by extension servers.
pub(super) const MOST_APIS: usize = 500;

/// Bytes of memory of a value or a key, beside its text.
const EACH: usize = 64;

/// Checks what would be made of the Deployments before any of it is.
///
/// # Errors
/// It is too large.
pub(crate) fn check_size(
    csv: &ClusterServiceVersion,
    deployments: &[StrategyDeploymentSpec],
    overrides: &Overrides,
) -> Result<(), StrategyError> {
    let annotations = csv.metadata.annotations.iter().flatten();
    let annotations: usize =
        annotations.map(|(key, value)| key.len() + value.len() + 2 * EACH).sum();
    let of_one = |entry: &StrategyDeploymentSpec| {
        let pods = overrides.bytes().saturating_mul(containers(entry).saturating_add(2));
        annotations.saturating_add(pods)
    };
    let all = deployments.iter().map(of_one).fold(0, usize::saturating_add);
    if all > MOST { Err(StrategyError::TooLarge) } else { Ok(()) }
}

/// Checks how many APIs have to be looked up for a CSV, one by one, before any of them is.
///
/// # Errors
/// There are too many.
pub(crate) fn check_apis(csv: &ClusterServiceVersion) -> Result<(), StrategyError> {
    let services = csv.spec.apiservicedefinitions.iter();
    let services: usize = services.map(|all| all.owned.len() + all.required.len()).sum();
    let apis = services + csv.spec.native_apis.len();
    if apis > MOST_APIS { Err(StrategyError::TooManyApis(apis)) } else { Ok(()) }
}

/// About how many bytes of memory a value takes.
pub(super) fn bytes_of(value: &Value) -> usize {
    EACH + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + EACH + bytes_of(value)).sum()
        }
    }
}

fn containers(entry: &StrategyDeploymentSpec) -> usize {
    let list = entry.spec.at("/template/spec/containers");
    list.as_ref().and_then(Value::as_array).map_or(0, Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::overrides::ProxySettings;
    use rstest::rstest;
    use serde_json::json;

    fn csv(annotation: usize, deployments: usize, containers: usize) -> ClusterServiceVersion {
        let containers = vec![json!({"name": "c"}); containers];
        let deployment =
            json!({"name": "d", "spec": {"template": {"spec": {"containers": containers}}}});
        serde_json::from_value(json!({
            "metadata": {"name": "a.v1", "annotations": {"note": "a".repeat(annotation)}},
            "spec": {"install": {"strategy": "deployment",
                "spec": {"deployments": vec![deployment; deployments]}}},
        }))
        .unwrap()
    }

    #[rstest]
    #[case::as_many_as_may_be(300, 200, Ok(()))]
    #[case::more(300, 201, Err(StrategyError::TooManyApis(501)))]
    fn apis(
        #[case] native: usize,
        #[case] services: usize,
        #[case] expected: Result<(), StrategyError>,
    ) {
        let api = json!({"group": "g.io", "version": "v1", "kind": "A"});
        let csv: ClusterServiceVersion = serde_json::from_value(json!({
            "metadata": {"name": "a.v1"},
            "spec": {
                "nativeAPIs": vec![&api; native],
                "apiservicedefinitions": {"required": vec![&api; services]},
            },
        }))
        .unwrap();
        assert_eq!(check_apis(&csv), expected);
    }

    #[rstest]
    #[case::usual(100_000, 5, 3, 2_000, true)]
    #[case::many_deployments(250_000, 5_000, 1, 0, false)]
    #[case::many_containers(10, 1, 20_000, 10_000, false)]
    #[case::many_of_both(10, 2_000, 10, 2_000, false)]
    #[case::large_alone(250_000, 1, 1, 250_000, true)]
    fn sizes(
        #[case] annotation: usize,
        #[case] deployments: usize,
        #[case] containers: usize,
        #[case] config: usize,
        #[case] fits: bool,
    ) {
        let csv = csv(annotation, deployments, containers);
        let config = json!({"env": [{"name": "A", "value": "a".repeat(config)}]});
        let overrides = Overrides::new(Some(&config), &ProxySettings::default());
        let entries = &csv.spec.install.spec.as_ref().unwrap().deployments;
        let expected = if fits { Ok(()) } else { Err(StrategyError::TooLarge) };
        assert_eq!(check_size(&csv, entries, &overrides), expected);
    }
}
