//! Certificates for servers inside the cluster.
//!
//! [`issue`] fills an order. An [`Authority`] lives as long as that: it signs certificates for
//! servers and is dropped, its key with it. What stays is its certificate, by which clients
//! recognise those that it signed. Nothing here knows which server needs what; names and times come
//! from the order.

mod issue;
#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

use aws_lc_rs::rand;
use jiff::Timestamp;
use olm_effect::{CertificateOrder, IssuedServer};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};

pub use issue::issue;

/// Why a certificate could not be issued.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Randomness,
    /// A key or certificate could not be made.
    #[error("cannot issue a certificate for {subject}")]
    Issue {
        /// Common name of the certificate.
        subject: String,
        /// What went wrong.
        #[source]
        source: Box<rcgen::Error>,
    },
    /// A key could not be written down.
    #[error("cannot encode the key of {subject}")]
    Key {
        /// Common name of the certificate.
        subject: String,
    },
}

/// A certificate authority with a P-256 key that is never written down.
pub struct Authority<'o> {
    order: &'o CertificateOrder,
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl<'o> Authority<'o> {
    /// A new authority as an order describes it.
    ///
    /// # Errors
    /// When the system gives no random numbers or the order makes no certificate.
    pub fn new(order: &'o CertificateOrder) -> Result<Self, CertificateError> {
        let serial = serial()?;
        let name = format!("{}{serial:x}", order.authority);
        let mut params = params(order, &name, serial);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().map_err(|source| failed(&name, source))?;
        let certificate = params.self_signed(&key).map_err(|source| failed(&name, source))?.pem();
        Ok(Self { order, certificate, issuer: Issuer::new(params, key) })
    }

    /// Its own certificate as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// A certificate for a server that is reached under these DNS names, of which the first is
    /// the common name.
    ///
    /// # Errors
    /// When the system gives no random numbers or a name is no DNS name.
    pub fn serve(&self, hosts: &[String]) -> Result<IssuedServer, CertificateError> {
        let name = hosts.first().map(String::as_str).unwrap_or_default();
        let fail = |source| failed(name, source);
        let mut params = params(self.order, name, serial()?);
        params.is_ca = IsCa::ExplicitNoCa;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        for host in hosts {
            let host = host.as_str().try_into().map_err(fail)?;
            params.subject_alt_names.push(SanType::DnsName(host));
        }
        let key = KeyPair::generate().map_err(fail)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(fail)?.pem();
        let key = issue::sec1_pem(&key)
            .ok_or_else(|| CertificateError::Key { subject: name.to_owned() })?;
        Ok(IssuedServer { certificate, key })
    }
}

fn params(order: &CertificateOrder, common_name: &str, serial: u64) -> CertificateParams {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, order.organization.as_str());
    name.push(DnType::CommonName, common_name);
    let mut params = CertificateParams::default();
    params.not_before = rcgen::date_time_ymd(1970, 1, 1) + seconds(order.not_before);
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + seconds(order.not_after);
    params.serial_number = Some(SerialNumber::from_slice(&serial.to_be_bytes()));
    params.distinguished_name = name;
    params
}

/// A positive number of 63 bits.
fn serial() -> Result<u64, CertificateError> {
    let mut bytes = [0; 8];
    rand::fill(&mut bytes).map_err(|_| CertificateError::Randomness)?;
    Ok((u64::from_be_bytes(bytes) >> 1).max(1))
}

/// Seconds since 1970; what lies before is 1970.
fn seconds(at: Timestamp) -> Duration {
    Duration::from_secs(u64::try_from(at.as_second()).unwrap_or_default())
}

fn failed(subject: &str, source: rcgen::Error) -> CertificateError {
    CertificateError::Issue { subject: subject.to_owned(), source: Box::new(source) }
}
