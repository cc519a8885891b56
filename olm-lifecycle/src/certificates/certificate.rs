//! Reading certificates: when they are valid, for whom, and who signed them.
//!
//! What lies in a Secret may be anything, so every step has an answer for garbage, and the length
//! of what is read is bounded.

use jiff::Timestamp;
use olm_types::hash::sha256_hex;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;

use super::AUTHORITY_PREFIX;

/// Label of a certificate in PEM.
const LABEL: &str = "CERTIFICATE";

/// Longest PEM text that is looked at, in bytes; a certificate of ours has under 1,000.
const LONGEST: usize = 64 * 1024;

/// Why a text is no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// There is nothing in PEM form.
    #[error("holds no PEM block CERTIFICATE")]
    NotPem,
    /// The block does not hold a certificate.
    #[error("holds a PEM block that is no certificate")]
    NotX509,
    /// The text is longer than anything sensible.
    #[error("is longer than {LONGEST} bytes")]
    TooLong,
}

/// A certificate that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    der: Vec<u8>,
    /// First moment at which it is valid.
    pub not_before: Timestamp,
    /// Last moment at which it is valid.
    pub not_after: Timestamp,
}

impl Certificate {
    /// The first certificate of a PEM text.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(pem: &[u8]) -> Result<Self, CertificateError> {
        let all = blocks(pem)?;
        let der = all.into_iter().next().ok_or(CertificateError::NotPem)?;
        Self::from_der(der)
    }

    /// Whether it is valid at a moment.
    pub(crate) fn is_valid_at(&self, at: Timestamp) -> bool {
        self.not_before <= at && at <= self.not_after
    }

    /// Whether clients who trust `authority` accept it for a server of that name.
    pub fn serves(&self, host: &str, authority: &Self) -> bool {
        let (Some(own), Some(ca)) = (self.parsed(), authority.parsed()) else { return false };
        let is_vouched_for = ca.is_ca()
            && own.issuer() == ca.subject()
            && own.verify_signature(Some(ca.public_key())).is_ok();
        is_vouched_for && is_for_servers(&own) && has_name(&own, host)
    }

    /// Whether it is an authority that OLM made for an operator.
    pub fn is_olms(&self) -> bool {
        let Some(own) = self.parsed() else { return false };
        let mut names = own.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        own.is_ca() && names.any(|name| name.starts_with(AUTHORITY_PREFIX))
    }

    fn from_der(der: Vec<u8>) -> Result<Self, CertificateError> {
        let (_, parsed) =
            x509_parser::parse_x509_certificate(&der).map_err(|_| CertificateError::NotX509)?;
        let moment =
            |seconds| Timestamp::from_second(seconds).map_err(|_| CertificateError::NotX509);
        let not_before = moment(parsed.validity().not_before.timestamp())?;
        let not_after = moment(parsed.validity().not_after.timestamp())?;
        Ok(Self { der, not_before, not_after })
    }

    fn parsed(&self) -> Option<X509Certificate<'_>> {
        x509_parser::parse_x509_certificate(&self.der).ok().map(|(_, parsed)| parsed)
    }
}

/// SHA-256 of an authority's PEM text in hexadecimal digits, as the annotation `olmcahash` has it.
pub(crate) fn authority_hash(pem: &[u8]) -> String {
    sha256_hex(pem)
}

/// The certificates of a PEM text as DER, in their order.
pub(super) fn blocks(pem: &[u8]) -> Result<Vec<Vec<u8>>, CertificateError> {
    if pem.len() > LONGEST {
        return Err(CertificateError::TooLong);
    }
    let found = Pem::iter_from_buffer(pem).map_while(Result::ok);
    Ok(found.filter(|block| block.label == LABEL).map(|block| block.contents).collect())
}

/// A certificate that names no purpose is good for all.
fn is_for_servers(certificate: &X509Certificate<'_>) -> bool {
    match certificate.extended_key_usage() {
        Ok(Some(usage)) => usage.value.server_auth || usage.value.any,
        Ok(None) => true,
        Err(_) => false,
    }
}

fn has_name(certificate: &X509Certificate<'_>, host: &str) -> bool {
    let names = certificate.subject_alternative_name().ok().flatten();
    let mut names = names.iter().flat_map(|names| &names.value.general_names);
    names.any(|name| matches!(name, GeneralName::DNSName(name) if name.eq_ignore_ascii_case(host)))
}
