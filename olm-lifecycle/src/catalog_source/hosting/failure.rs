//! Why a catalog is not pulled.

use jiff::Timestamp;
use olm_types::reasons::catalog_source::DIGEST_MISMATCH;

/// Why newer content, or any at all, is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullFailure {
    /// The image that the spec named.
    pub image: String,
    /// The digest of what cannot be used; none when the digest is not known.
    pub digest: Option<String>,
    /// One word.
    pub reason: &'static str,
    /// For people. It is the same for the same cause.
    pub message: String,
    /// How often in a row; that the registry asked for a pause does not count.
    pub attempts: u32,
    /// When it failed last.
    pub at: Timestamp,
    /// How long the registry asked not to be asked, in seconds.
    pub retry_after: u64,
}

impl PullFailure {
    /// Whether the registry asked not to be asked for a while, and nothing else is known to be wrong.
    fn is_pause(&self) -> bool {
        self.retry_after > 0
    }

    /// What is known once this has come after `before`: how often in a row, and that content was not what its
    /// digest says, until the image is other content. Otherwise a registry could have a Pod run what the operator
    /// refuses, by failing in another way afterwards.
    #[must_use]
    pub fn after(self, before: Option<&Self>) -> Self {
        let before = before.filter(|known| known.image == self.image);
        let forged = before.filter(|known| {
            known.reason == DIGEST_MISMATCH
                && (self.digest.is_none() || self.digest == known.digest)
        });
        let in_a_row = before.filter(|known| known.digest == self.digest || forged.is_some());
        let counts = u32::from(!self.is_pause());
        let attempts = in_a_row.map_or(0, |known| known.attempts).saturating_add(counts);
        match forged {
            Some(known) => {
                Self { attempts, at: self.at, retry_after: self.retry_after, ..known.clone() }
            }
            None => Self { attempts, ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn failure(reason: &'static str, digest: Option<&str>) -> PullFailure {
        PullFailure {
            image: "i".to_owned(),
            digest: digest.map(str::to_owned),
            reason,
            message: reason.to_owned(),
            attempts: 0,
            at: "2026-01-01T12:00:00Z".parse().unwrap(),
            retry_after: 0,
        }
    }

    #[rstest]
    #[case::first(None, ("RegistryUnavailable", None), ("RegistryUnavailable", 1))]
    #[case::again(Some(("RegistryUnavailable", None)), ("RegistryUnavailable", None), ("RegistryUnavailable", 4))]
    #[case::other_digest(Some(("ImageInvalid", Some("a"))), ("ImageInvalid", Some("b")), ("ImageInvalid", 1))]
    #[case::forged_then_away(Some((DIGEST_MISMATCH, Some("a"))), ("RegistryUnavailable", None), (DIGEST_MISMATCH, 4))]
    #[case::forged_then_refused(Some((DIGEST_MISMATCH, Some("a"))), ("ImageUnauthorized", Some("a")), (DIGEST_MISMATCH, 4))]
    #[case::forged_then_replaced(Some((DIGEST_MISMATCH, Some("a"))), ("ImageUnauthorized", Some("b")), ("ImageUnauthorized", 1))]
    fn what_was_forged_stays_so(
        #[case] before: Option<(&'static str, Option<&str>)>,
        #[case] now: (&'static str, Option<&str>),
        #[case] expected: (&str, u32),
    ) {
        let before =
            before.map(|(reason, digest)| PullFailure { attempts: 3, ..failure(reason, digest) });
        let found = failure(now.0, now.1).after(before.as_ref());
        assert_eq!((found.reason, found.attempts), expected);
    }

    /// What a registry did: it was away (`a`), or asked for a pause (`p`).
    #[rstest]
    #[case("p", 0)]
    #[case("ppp", 0)]
    #[case("pap", 1)]
    #[case("apa", 2)]
    fn a_pause_is_no_attempt(#[case] answers: &str, #[case] expected: u32) {
        let last = answers.chars().fold(None, |before: Option<PullFailure>, answer| {
            let retry_after = if answer == 'p' { 31 } else { 0 };
            let now = PullFailure { retry_after, ..failure("RegistryUnavailable", None) };
            Some(now.after(before.as_ref()))
        });
        assert_eq!(last.map(|failure| failure.attempts), Some(expected));
    }

    #[test]
    fn another_image_begins_anew() {
        let before = PullFailure { attempts: 3, ..failure(DIGEST_MISMATCH, Some("a")) };
        let now = PullFailure { image: "j".to_owned(), ..failure("RegistryUnavailable", None) };
        let found = now.after(Some(&before));
        assert_eq!((found.reason, found.attempts), ("RegistryUnavailable", 1));
    }
}
