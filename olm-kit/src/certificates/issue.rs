//! Fills orders for certificates.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_effect::{CertificateOrder, Issued};
use rcgen::KeyPair;

use super::{Authority, CertificateError};

/// One authority, which is forgotten afterwards, and a certificate for each server.
///
/// # Errors
/// When a certificate cannot be made.
pub fn issue(order: &CertificateOrder) -> Result<Issued, CertificateError> {
    let authority = Authority::new(order)?;
    let mut issued = Issued {
        authority: authority.certificate().to_owned(),
        not_after: order.not_after,
        ..Issued::default()
    };
    for (secret, hosts) in &order.servers {
        issued.servers.insert(secret.clone(), authority.serve(hosts)?);
    }
    Ok(issued)
}

/// Characters per line (RFC 7468, section 2).
const LINE: usize = 64;

/// The key in the form of SEC 1 under the label `EC PRIVATE KEY`, which older servers expect.
pub(super) fn sec1_pem(key: &KeyPair) -> Option<String> {
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.serialized_der()).ok()?;
    let der = pair.private_key().as_der().ok()?;
    Some(pem("EC PRIVATE KEY", der.as_ref()))
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, left) = rest.split_at_checked(LINE).unwrap_or((rest, ""));
        pem.push_str(line);
        pem.push('\n');
        rest = left;
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}
