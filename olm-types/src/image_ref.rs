//! Grammar of image references: `[domain/]path[:tag][@digest]`.

use thiserror::Error;

/// Longest name without tag and digest, in bytes.
const LONGEST_NAME: usize = 255;
/// Shortest digest of any algorithm, in hexadecimal digits.
const SHORTEST_DIGEST: usize = 32;
/// Longest tag, in bytes.
const LONGEST_TAG: usize = 128;

/// A text that is no image reference. The messages are those that people know from container tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ImageRefError {
    /// Something in it is neither a name, a tag nor a digest.
    #[error("invalid reference format")]
    Format,
    /// Upper-case letters in the path.
    #[error("invalid reference format: repository name must be lowercase")]
    Uppercase,
    /// More bytes before tag and digest than registries take.
    #[error("repository name must not be more than {LONGEST_NAME} characters")]
    TooLong,
    /// Another hash function than SHA-256, SHA-384 or SHA-512.
    #[error("unsupported digest algorithm")]
    Algorithm,
    /// A digest that is cut off, or too long for its algorithm.
    #[error("invalid checksum digest length")]
    DigestLength,
    /// A digest with other characters than lower-case hexadecimal digits, or without algorithm.
    #[error("invalid checksum digest format")]
    DigestFormat,
}

/// Checks a reference.
///
/// # Errors
///
/// The text is no image reference.
pub fn check(reference: &str) -> Result<(), ImageRefError> {
    let (rest, digest) = match reference.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (reference, None),
    };
    let slash = rest.rfind('/').map_or(0, |position| position + 1);
    let (name, tag) = match rest.get(slash..).and_then(|last| last.split_once(':')) {
        Some((last, tag)) => (rest.get(..slash + last.len()).unwrap_or(rest), Some(tag)),
        None => (rest, None),
    };
    check_name(name)?;
    tag.map_or(Ok(()), check_tag)?;
    digest.map_or(Ok(()), check_digest)
}

fn check_name(name: &str) -> Result<(), ImageRefError> {
    if name.len() > LONGEST_NAME {
        return Err(ImageRefError::TooLong);
    }
    let path = match name.split_once('/') {
        Some((domain, path)) if is_domain_like(domain) => {
            check_domain(domain)?;
            path
        }
        _ => name,
    };
    if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(ImageRefError::Uppercase);
    }
    if path.split('/').all(is_path_component) { Ok(()) } else { Err(ImageRefError::Format) }
}

/// Whether the first component of a name is a host and not part of the path.
fn is_domain_like(first: &str) -> bool {
    first == "localhost"
        || first.contains(['.', ':', '['])
        || first.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn check_domain(domain: &str) -> Result<(), ImageRefError> {
    let (host, port) = match domain.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']').ok_or(ImageRefError::Format)?;
            if !address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':') {
                return Err(ImageRefError::Format);
            }
            ("ipv6", rest.strip_prefix(':').or(rest.is_empty().then_some("0")))
        }
        None => match domain.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (domain, Some("0")),
        },
    };
    let port = port.ok_or(ImageRefError::Format)?;
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if digits && host.split('.').all(is_host_component) {
        Ok(())
    } else {
        Err(ImageRefError::Format)
    }
}

fn is_host_component(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Lower-case letters and digits, with `.`, `_`, `__` or dashes between them.
fn is_path_component(text: &str) -> bool {
    let separators = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inner_fine = separators.clone().all(|separator| {
        matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
    });
    let bounded =
        !text.is_empty() && !text.starts_with(['.', '_', '-']) && !text.ends_with(['.', '_', '-']);
    bounded && inner_fine
}

fn check_tag(tag: &str) -> Result<(), ImageRefError> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = tag.bytes().next().is_some_and(word);
    let fine = first && tag.bytes().all(|byte| word(byte) || b".-".contains(&byte));
    if fine && tag.len() <= LONGEST_TAG { Ok(()) } else { Err(ImageRefError::Format) }
}

fn check_digest(digest: &str) -> Result<(), ImageRefError> {
    let (algorithm, hex) = digest.split_once(':').ok_or(ImageRefError::Format)?;
    if hex.len() < SHORTEST_DIGEST || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ImageRefError::Format);
    }
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Err(ImageRefError::Algorithm),
    };
    if hex.len() != length {
        return Err(ImageRefError::DigestLength);
    }
    let lower = hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if lower { Ok(()) } else { Err(ImageRefError::DigestFormat) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::ImageRefError::{Algorithm, DigestFormat, DigestLength, Format, Uppercase};
    use super::*;

    const SHA256: &str = "8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe3d4b0b0f4bf1e3b8c4ad7f8a8d1f0c55";

    #[rstest]
    fn good(
        #[values(
            "busybox",
            "quay.io/coreos/etcd-operator:v0.9.2",
            "localhost/a",
            "localhost:5000/a/b_c/d__e/f--g:x",
            "[2001:db8::1]:5000/a",
            "registry.example/a.b/c"
        )]
        reference: &str,
    ) {
        assert_eq!(check(reference), Ok(()));
        assert_eq!(check(&format!("{reference}@sha256:{SHA256}")), Ok(()));
    }

    #[rstest]
    #[case("", Format)]
    #[case("quay.io/", Format)]
    #[case("quay.io/a b", Format)]
    #[case("quay.io/a:", Format)]
    #[case("quay.io/a:-x", Format)]
    #[case("quay.io:x/a", Format)]
    #[case("-a.io/b", Format)]
    #[case("quay.io/a/", Format)]
    #[case("quay.io/a___b", Format)]
    #[case("quay.io/A", Uppercase)]
    #[case("a@md5:0123456789abcdef0123456789abcdef", Algorithm)]
    #[case("a@sha256:0123", Format)]
    #[case("a@sha256", Format)]
    #[case("a@sha256:00000000000000000000000000000000", DigestLength)]
    fn bad(#[case] reference: &str, #[case] error: ImageRefError) {
        assert_eq!(check(reference), Err(error));
    }

    #[test]
    fn digests_are_lower_case() {
        assert_eq!(check(&format!("a@sha256:{}", SHA256.to_uppercase())), Err(DigestFormat));
    }
}
