//! Fills orders for certificates.

use olm_kit::certificates::{Authority, CertificateError, Terms};
use olm_lifecycle::certificates::{
    AUTHORITY_PREFIX, CertificateOrder, Issued, IssuedServer, ORGANIZATION,
};

/// One authority, which is forgotten afterwards, and a certificate for each server.
///
/// # Errors
/// When a certificate cannot be made.
pub fn issue(order: &CertificateOrder) -> Result<Issued, CertificateError> {
    let authority = Authority::new(Terms {
        organization: ORGANIZATION.to_owned(),
        authority: AUTHORITY_PREFIX.to_owned(),
        not_before: order.not_before,
        not_after: order.not_after,
    })?;
    let mut issued = Issued {
        authority: authority.certificate().to_owned(),
        not_after: order.not_after,
        ..Issued::default()
    };
    for (secret, hosts) in &order.servers {
        let made = authority.serve(hosts)?;
        let server = IssuedServer { certificate: made.certificate, key: made.key };
        issued.servers.insert(secret.clone(), server);
    }
    Ok(issued)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use olm_lifecycle::certificates::{Judgement, Material, judge};

    use super::*;

    #[test]
    fn what_is_issued_is_good_for_two_years_but_a_day() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let hosts = vec!["a.ns".to_owned(), "a.ns.svc".to_owned()];
        let servers = BTreeMap::from([("secret".to_owned(), hosts.clone())]);
        let issued = issue(&CertificateOrder::new(servers, now)).unwrap();
        let server = &issued.servers["secret"];
        let material = Material {
            certificate: server.certificate.as_bytes(),
            key: server.key.as_bytes(),
            authority: issued.authority.as_bytes(),
        };
        let rotate_at = "2027-12-31T00:00:00Z".parse().unwrap();
        assert_eq!(judge(material, &hosts, now), Judgement::Good { rotate_at });
    }
}
