//! Whether a certificate may stay (spec olm-operator 3.6).

use jiff::{SignedDuration, Timestamp};

use super::certificate::{Certificate, CertificateError};
use super::secret::{AUTHORITY, CERTIFICATE, Material, PRIVATE_KEY};

/// How long before its end a certificate is renewed; v0's value.
pub const RENEWED_BEFORE_END: SignedDuration = SignedDuration::from_hours(24);

/// The verdict over a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It may stay until this moment.
    Good {
        /// When it is due.
        rotate_at: Timestamp,
    },
    /// Clients accept it, and it ends within a day.
    Due,
    /// Clients do not accept it.
    Unusable(Unusable),
}

/// Why clients do not accept a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// There is no Secret.
    #[error("the Secret does not exist")]
    NoSecret,
    /// A part is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A part cannot be read.
    #[error("{part} {error}")]
    Unreadable {
        /// Key in the Secret.
        part: &'static str,
        /// What is wrong.
        error: CertificateError,
    },
    /// It is too early or too late for one of the certificates.
    #[error("{part} is not valid now")]
    NotNow {
        /// Key in the Secret.
        part: &'static str,
    },
    /// The certificate is for another owner, or from another issuer.
    #[error("{CERTIFICATE} is no certificate for {host} from the authority in {AUTHORITY}")]
    NotFor {
        /// The name that it would have to be for.
        host: String,
    },
}

/// Judges what servers with these DNS names show to clients who trust `material.authority`.
pub fn judge(material: Material<'_>, hosts: &[String], now: Timestamp) -> Validity {
    match read(material, hosts, now) {
        Err(reason) => Validity::Unusable(reason),
        Ok(end) => {
            let rotate_at = rotate_at(end);
            if now < rotate_at { Validity::Good { rotate_at } } else { Validity::Due }
        }
    }
}

/// When a certificate that ends at `end` is due.
pub fn rotate_at(end: Timestamp) -> Timestamp {
    end.checked_sub(RENEWED_BEFORE_END).unwrap_or(Timestamp::MIN)
}

/// The end of the certificate or of its authority, whichever is first.
fn read(material: Material<'_>, hosts: &[String], now: Timestamp) -> Result<Timestamp, Unusable> {
    let authority = part(AUTHORITY, material.authority, now)?;
    let certificate = part(CERTIFICATE, material.certificate, now)?;
    if material.key.is_empty() {
        return Err(Unusable::Missing(PRIVATE_KEY));
    }
    match hosts.iter().find(|host| !certificate.serves(host, &authority)) {
        Some(host) => Err(Unusable::NotFor { host: host.clone() }),
        None => Ok(certificate.not_after.min(authority.not_after)),
    }
}

fn part(part: &'static str, pem: &[u8], now: Timestamp) -> Result<Certificate, Unusable> {
    if pem.is_empty() {
        return Err(Unusable::Missing(part));
    }
    let certificate =
        Certificate::read(pem).map_err(|error| Unusable::Unreadable { part, error })?;
    match certificate.is_valid_at(now) {
        true => Ok(certificate),
        false => Err(Unusable::NotNow { part }),
    }
}
