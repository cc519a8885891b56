//! Certificates that somebody with a source of randomness has to issue.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// Organization of every subject; v0's text.
pub const ORGANIZATION: &str = "Red Hat, Inc.";

/// Start of the common name of an authority; its serial number in hexadecimal digits follows.
pub const AUTHORITY_PREFIX: &str = "olm-selfsigned-";

/// How long certificates are valid; v0's value, two years.
const VALIDITY: SignedDuration = SignedDuration::from_hours(730 * 24);

/// What is to be issued: one authority and one certificate per server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateOrder {
    /// First moment of validity of all certificates.
    pub not_before: Timestamp,
    /// Last moment of validity of all certificates.
    pub not_after: Timestamp,
    /// DNS names of each server, by the name of its Secret.
    pub servers: BTreeMap<String, Vec<String>>,
}

/// What was issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// The certificate of the authority as PEM.
    pub authority: String,
    /// Last moment of validity of all certificates.
    pub not_after: Timestamp,
    /// Certificate and key of each server, by the name of its Secret.
    pub servers: BTreeMap<String, IssuedServer>,
}

/// A certificate with its private key, both as PEM.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct IssuedServer {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

impl std::fmt::Debug for IssuedServer {
    /// Keys are not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedServer")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}

impl CertificateOrder {
    /// An order for servers, to be valid from now on.
    pub fn new(servers: BTreeMap<String, Vec<String>>, now: Timestamp) -> Self {
        let not_after = now.checked_add(VALIDITY).unwrap_or(Timestamp::MAX);
        Self { not_before: now, not_after, servers }
    }
}
