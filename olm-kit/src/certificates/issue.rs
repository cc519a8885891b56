//! Fills orders for certificates.

use olm_effect::{CertificateOrder, Issued};

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
