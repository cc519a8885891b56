//! To which replicas clients of a catalog are sent: to those that say they serve the content that counts.
//!
//! A replica may be ready and lack a catalog: it could not pull it, its disk is full, or its port is taken. So the
//! leader asks each replica, at the port of the catalog, for the name of the content. What it hears is in memory;
//! only who is listed is written, when that changes.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::discovery::v1::EndpointSlice;

use super::{HostedContent, record};

/// How long until a replica that serves the content is asked again.
const SERVES: Duration = Duration::from_secs(5);
/// First pause before a replica that does not is asked again; it doubles each time.
const FIRST: Duration = Duration::from_millis(250);
/// The longest of these pauses.
const LONGEST: Duration = Duration::from_secs(4);
/// Questions without an answer after which a replica does not serve: one may be lost.
const SILENCES: u32 = 2;

/// What a replica said when it was asked for certain content at a certain port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplicaState {
    /// It was not asked yet.
    #[default]
    Nothing,
    /// It serves that content.
    Serves,
    /// It serves other content or none, so often in a row.
    Other(u32),
    /// It did not answer, so often in a row.
    Silent(u32),
}

impl ReplicaState {
    /// What is known after this answer, which came after `before`.
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        match (before, self) {
            (Self::Other(times), Self::Other(more)) => Self::Other(times.saturating_add(more)),
            (Self::Silent(times), Self::Silent(more)) => Self::Silent(times.saturating_add(more)),
            (_, now) => now,
        }
    }

    /// Whether it serves the content; none while that is not known.
    pub fn verdict(self) -> Option<bool> {
        match self {
            Self::Nothing => None,
            Self::Serves => Some(true),
            Self::Other(_) => Some(false),
            Self::Silent(times) => (times >= SILENCES).then_some(false),
        }
    }

    /// How long until it is asked again.
    pub fn pause(self) -> Duration {
        match self {
            Self::Nothing => Duration::ZERO,
            Self::Serves => SERVES,
            Self::Other(times) | Self::Silent(times) => {
                let doubled = 1_u32.checked_shl(times.saturating_sub(1)).unwrap_or(u32::MAX);
                FIRST.saturating_mul(doubled).min(LONGEST)
            }
        }
    }
}

/// Whether clients are sent to a replica. One of which nothing is known yet stays where it is: a new leader takes
/// over what the former one knew.
pub fn is_listed(heard: ReplicaState, is_listed_now: bool) -> bool {
    heard.verdict().unwrap_or(is_listed_now)
}

/// The addresses to which clients of this content at this port are sent.
pub fn listed(
    slice: Option<&EndpointSlice>,
    content: &HostedContent,
    port: u16,
) -> BTreeSet<IpAddr> {
    let counts = |slice: &&EndpointSlice| {
        record(slice)
            .is_some_and(|found| found.digest == content.digest && found.port == Some(port))
    };
    let endpoints = slice.filter(counts).and_then(|slice| slice.endpoints.as_ref());
    let addresses = endpoints.into_iter().flatten().flat_map(|endpoint| &endpoint.addresses);
    addresses.filter_map(|address| address.parse().ok()).collect()
}

/// The name by which a replica is asked for the content of a catalog.
pub fn content_name(namespace: &str, name: &str, content: &HostedContent) -> String {
    let folder = content.folder.as_deref().unwrap_or_default();
    format!("{namespace}/{name}/{}/{folder}", content.digest)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const YES: ReplicaState = ReplicaState::Serves;
    const NO: ReplicaState = ReplicaState::Other(1);
    const MUTE: ReplicaState = ReplicaState::Silent(1);

    /// What a replica said one after the other, whether it was listed before and is afterwards, and how many
    /// milliseconds later it is asked again.
    #[rstest]
    #[case::not_asked(&[], false, false, 0)]
    #[case::new_leader(&[], true, true, 0)]
    #[case::serves(&[YES], false, true, 5_000)]
    #[case::not_pulled(&[NO], false, false, 250)]
    #[case::lost_it(&[YES, NO], true, false, 250)]
    #[case::still_pulls(&[NO, NO, NO], false, false, 1_000)]
    #[case::never_pulls(&[NO; 99], false, false, 4_000)]
    #[case::recovered(&[NO, NO, YES], false, true, 5_000)]
    #[case::one_lost_answer(&[YES, MUTE], true, true, 250)]
    #[case::hangs(&[YES, MUTE, MUTE], true, false, 500)]
    #[case::hung_and_is_back(&[MUTE, MUTE, YES], false, true, 5_000)]
    #[case::never_answered(&[MUTE], false, false, 250)]
    #[case::busy_now_and_then(&[YES, MUTE, YES, MUTE], true, true, 250)]
    fn replicas(
        #[case] said: &[ReplicaState],
        #[case] before: bool,
        #[case] expected: bool,
        #[case] pause: u64,
    ) {
        let heard = said.iter().fold(ReplicaState::Nothing, |before, now| now.after(before));
        assert_eq!(is_listed(heard, before), expected);
        assert_eq!(heard.pause(), Duration::from_millis(pause));
    }

    fn content(digest: &str, folder: Option<&str>) -> HostedContent {
        let folder = folder.map(str::to_owned);
        let pulled_at = "2026-01-01T12:00:00Z".parse().unwrap();
        HostedContent { image: "i".to_owned(), digest: digest.to_owned(), folder, pulled_at }
    }

    /// Who served what was there before does not serve what is there now.
    #[rstest]
    #[case("sha256:a", 7, 1)]
    #[case::newer_content("sha256:b", 7, 0)]
    #[case::another_port("sha256:a", 8, 0)]
    fn the_list(#[case] digest: &str, #[case] port: u16, #[case] expected: usize) {
        let slice = json!({
            "metadata": {
                "labels": {"endpointslice.kubernetes.io/managed-by": "catalog-operator.olm-rs.dev"},
                "annotations": {"olm-rs.dev/catalog-image": "i", "olm-rs.dev/catalog-digest": "sha256:a"},
            },
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.7"]}],
            "ports": [{"name": "grpc", "port": 7}],
        });
        let slice = serde_json::from_value(slice).unwrap();
        assert_eq!(listed(Some(&slice), &content(digest, None), port).len(), expected);
        assert!(listed(None, &content(digest, None), port).is_empty());
    }

    #[test]
    fn the_name_says_which_catalog_and_which_content() {
        let name = |name, digest, folder| content_name("olm", name, &content(digest, folder));
        assert_eq!(name("a", "sha256:a", None), "olm/a/sha256:a/");
        let all = [
            name("a", "sha256:a", None),
            name("b", "sha256:a", None),
            name("a", "sha256:b", None),
            name("a", "sha256:a", Some("configs")),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
