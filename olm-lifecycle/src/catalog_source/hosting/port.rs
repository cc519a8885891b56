//! At which port a catalog is served: one of a range that the NetworkPolicy of the operator admits,
//! the same for all replicas.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube_core::ResourceExt;
use olm_types::hash;
use olm_types::labels::SERVICE_NAME;
use thiserror::Error;

use super::{Scope, record};

/// Ports for catalogs (`--catalogs-ports`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first one.
    pub first: u16,
    /// The last one.
    pub last: u16,
}

/// A text that is no range of ports.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no range of ports such as 50100-50199")]
pub struct PortRangeError(String);

impl FromStr for PortRange {
    type Err = PortRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('-').and_then(|(first, last)| {
            Some(Self { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? })
        });
        let valid = parsed.filter(|range| range.first > 0 && range.first <= range.last);
        valid.ok_or_else(|| PortRangeError(text.to_owned()))
    }
}

impl PortRange {
    /// All ports.
    pub fn all(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}

/// The port of a catalog: the recorded one, unless another catalog has it, else the first free one
/// from a place that follows from its name. So replicas that choose at the same time mostly agree, and
/// what is chosen stays. None when all are taken.
pub fn choose(
    range: PortRange,
    recorded: Option<u16>,
    taken: &BTreeSet<u16>,
    namespace: &str,
    name: &str,
) -> Option<u16> {
    let is_free = |port: &u16| !taken.contains(port);
    let recorded = recorded.filter(|port| range.all().contains(port)).filter(is_free);
    recorded.or_else(|| {
        let hash = hash::alongside_key(namespace, name);
        let number = u64::from_str_radix(&hash, 16).unwrap_or_default();
        let start = usize::try_from(number % range.all().len() as u64).unwrap_or_default();
        let (before, after) = (range.all().take(start), range.all().skip(start));
        after.chain(before).find(is_free)
    })
}

/// The ports that EndpointSlices record for catalogs other than the one behind this Service. Those of namespaces whose
/// catalogs the operator does not serve take none: whoever may write EndpointSlices there could take all.
pub fn taken<'a>(
    slices: impl IntoIterator<Item = &'a EndpointSlice>,
    scope: &Scope,
    (namespace, service): (&str, &str),
) -> Vec<u16> {
    let counts = |slice: &&EndpointSlice| {
        let of = slice.namespace().unwrap_or_default();
        let is_own =
            of == namespace && slice.labels().get(SERVICE_NAME).is_some_and(|name| name == service);
        !is_own && scope.includes(&of)
    };
    let others = slices.into_iter().filter(counts);
    others.filter_map(|slice| record(slice)?.port).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// A record for a catalog.
    fn slice(namespace: &str, service: &str, port: u16) -> EndpointSlice {
        serde_json::from_value(json!({
            "metadata": {
                "namespace": namespace, "name": format!("{service}-olm-rs"),
                "labels": {
                    "endpointslice.kubernetes.io/managed-by": "catalog-operator.olm-rs.dev",
                    SERVICE_NAME: service,
                },
                "annotations": {"olm-rs.dev/catalog-image": "i", "olm-rs.dev/catalog-digest": "d"},
            },
            "addressType": "IPv4", "endpoints": [], "ports": [{"name": "grpc", "port": port}],
        }))
        .unwrap()
    }

    #[test]
    fn a_tenant_takes_no_port_of_catalogs_that_the_operator_serves() {
        let slices = [
            slice("olm", "own", 10),
            slice("olm", "other", 11),
            slice("ours", "own", 12),
            slice("team", "own", 13),
        ];
        let taken = |scope: &Scope| taken(&slices, scope, ("olm", "own"));
        assert_eq!(taken(&Scope::process("olm", &["ours".to_owned()])), [11, 12]);
        assert_eq!(taken(&Scope::process("olm", &["*".to_owned()])), [11, 12, 13]);
    }

    #[rstest]
    #[case("50100-50199", Some((50_100, 50_199)))]
    #[case("7-7", Some((7, 7)))]
    #[case("8-7", None)]
    #[case("0-7", None)]
    #[case("7", None)]
    #[case("1-70000", None)]
    #[case("", None)]
    fn ranges(#[case] text: &str, #[case] expected: Option<(u16, u16)>) {
        let parsed = text.parse::<PortRange>();
        assert_eq!(parsed.ok().map(|range| (range.first, range.last)), expected);
    }

    const RANGE: PortRange = PortRange { first: 10, last: 12 };

    #[rstest]
    #[case::recorded(Some(11), &[10], Some(11))]
    #[case::taken_by_another(Some(11), &[11, 12], Some(10))]
    #[case::out_of_range(Some(9), &[10, 12], Some(11))]
    #[case::all_taken(None, &[10, 11, 12], None)]
    fn ports(#[case] recorded: Option<u16>, #[case] taken: &[u16], #[case] expected: Option<u16>) {
        let taken = taken.iter().copied().collect();
        assert_eq!(choose(RANGE, recorded, &taken, "olm", "c"), expected);
    }

    #[test]
    fn names_spread_over_the_range_and_always_mean_the_same() {
        let range = PortRange { first: 50_100, last: 50_199 };
        let port = |name: &str| choose(range, None, &BTreeSet::new(), "olm", name).unwrap();
        let ports: BTreeSet<u16> = (0..20).map(|number| port(&format!("c{number}"))).collect();
        assert!(ports.len() > 10, "{ports:?}");
        assert_eq!(port("c1"), port("c1"));
    }
}
