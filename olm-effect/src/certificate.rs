//! Certificates that a caller with a source of randomness has to issue.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

/// What is to be issued: one authority and one certificate per server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateOrder {
    /// Organization of every subject.
    pub organization: String,
    /// Start of the authority's common name; its serial number in hexadecimal digits follows.
    pub authority: String,
    /// First moment of validity of all certificates; fractions of a second are cut.
    pub not_before: Timestamp,
    /// Last moment of validity of all certificates; fractions of a second are cut.
    pub not_after: Timestamp,
    /// DNS names of each server, by the name of its Secret; the first one is the common name.
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
    /// The private key (SEC 1).
    pub key: String,
}

impl fmt::Debug for IssuedServer {
    /// Keys are not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedServer")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}
