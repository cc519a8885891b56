//! The roots of trust: Mozilla's list, from a crate, so that `Cargo.lock` pins them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The longest line that PEM allows.
const LINE: usize = 64;

/// Every root certificate in PEM, in the order of their bytes.
pub fn pem() -> String {
    let mut certificates: Vec<&[u8]> =
        webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref).collect();
    certificates.sort_unstable();
    certificates.into_iter().map(encode).collect()
}

fn encode(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while let Some((line, next)) = rest.split_at_checked(LINE.min(rest.len())) {
        if line.is_empty() {
            break;
        }
        pem.push_str(line);
        pem.push('\n');
        rest = next;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_root_is_read_back() {
        let text = pem();
        let blocks: Vec<&str> = text.split("-----BEGIN CERTIFICATE-----\n").skip(1).collect();
        assert_eq!(blocks.len(), webpki_root_certs::TLS_SERVER_ROOT_CERTS.len());
        assert!(blocks.len() > 50);
        for block in blocks {
            let body = block.strip_suffix("-----END CERTIFICATE-----\n").unwrap();
            assert!(body.lines().all(|line| line.len() <= LINE));
            let der = STANDARD.decode(body.replace('\n', "")).unwrap();
            let known = &webpki_root_certs::TLS_SERVER_ROOT_CERTS;
            assert!(known.iter().any(|root| root.as_ref() == der));
        }
    }
}
