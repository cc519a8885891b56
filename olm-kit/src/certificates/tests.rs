//! Certificates as spec olm-operator 3.6 describes them, read back with another library.

use std::collections::BTreeMap;

use jiff::Timestamp;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;
use x509_parser::prelude::X509Certificate;

use super::*;

fn order() -> CertificateOrder {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    CertificateOrder {
        organization: "Example, Inc.".to_owned(),
        authority: "example-".to_owned(),
        servers: BTreeMap::from([("secret".to_owned(), vec!["a.ns".to_owned()])]),
        not_before: at("2026-01-01T00:00:00.7Z"),
        not_after: at("2028-01-01T00:00:00Z"),
    }
}

/// For servers that are called in tests: a certificate for `localhost` that does not run out, and
/// the certificate of the authority that signed it.
pub(crate) fn for_localhost() -> (IssuedServer, String) {
    let order = CertificateOrder {
        organization: "test".to_owned(),
        authority: "test-".to_owned(),
        servers: BTreeMap::new(),
        not_before: "2026-01-01T00:00:00Z".parse().unwrap(),
        not_after: "2096-01-01T00:00:00Z".parse().unwrap(),
    };
    let authority = Authority::new(&order).unwrap();
    let issued = authority.serve(&["localhost".to_owned()]).unwrap();
    (issued, authority.certificate().to_owned())
}

fn pem(text: &str) -> Pem {
    Pem::iter_from_buffer(text.as_bytes()).next().unwrap().unwrap()
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let extension = certificate.subject_alternative_name().unwrap();
    let names = extension.into_iter().flat_map(|names| &names.value.general_names);
    names
        .map(|name| match name {
            GeneralName::DNSName(name) => (*name).to_owned(),
            other => panic!("not a DNS name: {other}"),
        })
        .collect()
}

#[test]
fn the_authority_signs_certificates_and_nothing_else() {
    let order = order();
    let authority = Authority::new(&order).unwrap();
    let pem = pem(authority.certificate());
    let certificate = pem.parse_x509().unwrap();
    let serial = certificate.serial.to_str_radix(16);
    assert_eq!(certificate.subject().to_string(), format!("O=Example, Inc., CN=example-{serial}"));
    assert_eq!(certificate.issuer(), certificate.subject());
    assert!(certificate.is_ca());
    let usage = certificate.key_usage().unwrap().unwrap().value;
    assert!(usage.key_cert_sign() && !usage.digital_signature() && !usage.crl_sign());
    assert_eq!(certificate.validity().not_before.timestamp(), order.not_before.as_second());
    assert_eq!(certificate.validity().not_after.timestamp(), order.not_after.as_second());
    certificate.verify_signature(None).unwrap();
}

#[test]
fn a_server_is_vouched_for_by_its_authority() {
    let order = order();
    let authority = Authority::new(&order).unwrap();
    let hosts = ["a.ns".to_owned(), "a.ns.svc".to_owned()];
    let serving = authority.serve(&hosts).unwrap();
    let (pem, ca) = (pem(&serving.certificate), pem(authority.certificate()));
    let (certificate, ca) = (pem.parse_x509().unwrap(), ca.parse_x509().unwrap());
    assert_eq!(certificate.subject().to_string(), "O=Example, Inc., CN=a.ns");
    assert_eq!(certificate.issuer(), ca.subject());
    assert_eq!(names(&certificate), hosts);
    assert!(!certificate.basic_constraints().unwrap().unwrap().value.ca);
    assert!(certificate.key_usage().unwrap().is_none());
    assert!(certificate.extended_key_usage().unwrap().unwrap().value.server_auth);
    certificate.verify_signature(Some(ca.public_key())).unwrap();
    assert!(certificate.verify_signature(None).is_err(), "it does not vouch for itself");
}

#[test]
fn the_key_belongs_to_the_certificate_and_servers_can_read_it() {
    let order = order();
    let serving = Authority::new(&order).unwrap().serve(&["a.ns".to_owned()]).unwrap();
    assert!(serving.key.starts_with("-----BEGIN EC PRIVATE KEY-----\n"), "{}", serving.key);
    let (certificate, key) = (pem(&serving.certificate), pem(&serving.key));
    let key = rustls::pki_types::PrivateSec1KeyDer::from(key.contents);
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let chain = vec![rustls::pki_types::CertificateDer::from(certificate.contents)];
    let certified = rustls::sign::CertifiedKey::from_der(chain, key.into(), &provider).unwrap();
    certified.keys_match().unwrap();
}

#[test]
fn a_name_that_is_no_dns_name_is_refused_by_name() {
    let order = order();
    let authority = Authority::new(&order).unwrap();
    let error = authority.serve(&["ä".to_owned()]).err().unwrap();
    assert_eq!(error.to_string(), "cannot issue a certificate for ä");
}

#[test]
fn no_two_authorities_are_alike() {
    let (one, other) = (issue(&order()).unwrap(), issue(&order()).unwrap());
    assert_ne!(one.authority, other.authority);
}

#[test]
fn an_order_is_filled_for_each_server() {
    let issued = issue(&order()).unwrap();
    assert_eq!(issued.not_after, order().not_after);
    let (ca, server) = (pem(&issued.authority), pem(&issued.servers["secret"].certificate));
    let (ca, server) = (ca.parse_x509().unwrap(), server.parse_x509().unwrap());
    assert_eq!(server.subject().to_string(), "O=Example, Inc., CN=a.ns");
    server.verify_signature(Some(ca.public_key())).unwrap();
}
