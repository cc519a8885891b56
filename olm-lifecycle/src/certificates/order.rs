//! How certificates of operators look (spec olm-operator 3.6).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use olm_effect::CertificateOrder;

/// Organization of every subject; v0's text.
const ORGANIZATION: &str = "Red Hat, Inc.";

/// Start of the common name of an authority; v0's text.
pub(super) const AUTHORITY_PREFIX: &str = "olm-selfsigned-";

/// How long certificates are valid; v0's value, two years.
const VALIDITY: SignedDuration = SignedDuration::from_hours(730 * 24);

/// An order for servers, whose DNS names come by the name of their Secret, to be valid from now on.
pub fn order(servers: BTreeMap<String, Vec<String>>, now: Timestamp) -> CertificateOrder {
    CertificateOrder {
        organization: ORGANIZATION.to_owned(),
        authority: AUTHORITY_PREFIX.to_owned(),
        not_before: now,
        not_after: now.checked_add(VALIDITY).unwrap_or(Timestamp::MAX),
        servers,
    }
}
