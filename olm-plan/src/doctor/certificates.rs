//! Certificates of operators that the API server calls: overdue, and not trusted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use olm_types::annotations::CA_HASH;
use olm_types::api::ClusterServiceVersion;
use olm_types::hash::sha256_hex;
use olm_types::labels::{OWNER, OWNER_NAMESPACE};
use serde_json::Value;

use super::server::{CALLED, servers};
use super::view::{label, text};
use super::{Fix, Found, View};
use crate::observed::{name, namespace};

/// How long a certificate may be due before that is reported.
const OVERDUE: SignedDuration = SignedDuration::from_hours(1);

/// What ends a certificate in a bundle of authorities.
const END: &str = "-----END CERTIFICATE-----\n";

/// CSVs whose certificates should have been rotated, or whose authority the API server is not given.
pub(super) fn certificates(view: &View<'_>) -> Vec<Found> {
    let authorities: BTreeMap<(&str, &str), &str> = view
        .others("Secret")
        .map(|secret| {
            let annotations = secret.pointer("/metadata/annotations");
            let hash = annotations.and_then(|all| all.get(CA_HASH)).and_then(Value::as_str);
            let place = (text(secret, "/metadata/namespace"), text(secret, "/metadata/name"));
            (place, hash.unwrap_or_default())
        })
        .collect();
    let mut untrusted: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for kind in CALLED {
        for object in view.others(kind) {
            let csv = (label(object, OWNER_NAMESPACE), label(object, OWNER));
            if is_untrusted(object, &authorities) {
                let named = format!("{kind} {}", text(object, "/metadata/name"));
                untrusted.entry(csv).or_insert(named);
            }
        }
    }
    let found = view.csvs().filter_map(|csv| {
        let place = (namespace(&csv.metadata), name(&csv.metadata));
        let evidence = overdue(csv, view.now).or_else(|| {
            let object = untrusted.get(&place)?;
            Some(format!("{object} does not have the authority that signed the certificate"))
        })?;
        let wait = "OLM rotates certificates and hands out authorities by itself: see whether olm-operator \
                    runs, and may write Secrets and webhook configurations";
        let fix = Fix::Wait(wait.to_owned());
        Some(Found::of(ClusterServiceVersion::KIND, &csv.metadata, evidence, fix))
    });
    found.collect()
}

fn overdue(csv: &ClusterServiceVersion, now: Timestamp) -> Option<String> {
    let due = csv.status.as_ref()?.certs_rotate_at.as_ref()?.0;
    let is_overdue = due.duration_until(now) > OVERDUE;
    is_overdue.then(|| format!("its certificates should have been rotated at {due}"))
}

/// Whether a server of an object has another authority than the Secret with its certificate.
fn is_untrusted(object: &Value, authorities: &BTreeMap<(&str, &str), &str>) -> bool {
    servers(object).into_iter().any(|server| {
        let secret = format!("{}-cert", server.service);
        let hash = authorities.get(&(server.namespace.as_str(), secret.as_str()));
        hash.is_some_and(|hash| {
            !hash.is_empty() && !authorities_of(&server.bundle).any(|it| it == *hash)
        })
    })
}

/// The hashes of the authorities in a bundle; there are several while certificates are rotated.
fn authorities_of(bundle: &str) -> impl Iterator<Item = String> {
    let all = std::iter::once(bundle).chain(bundle.split_inclusive(END));
    all.map(sha256_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_authority_of_a_bundle_counts() {
        let hash = |pem: &str| authorities_of(pem).next().unwrap();
        let (old, new) = (format!("old\n{END}"), format!("new\n{END}"));
        let both = format!("{old}{new}");
        assert!(authorities_of(&both).any(|it| it == hash(&old)));
        assert!(authorities_of(&both).any(|it| it == hash(&new)));
        assert!(!authorities_of(&old).any(|it| it == hash(&new)));
    }
}
