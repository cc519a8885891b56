//! What could not be read, as a part of a page: it says what, and why.

use olm_client::{TimedOut, cause};

/// Why something is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// In two or three words.
    pub(crate) kind: &'static str,
    /// In the words of who refused.
    pub(crate) why: String,
}

impl Failure {
    /// What an error means to a reader.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        let why = match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(_)) if error.chain().count() <= 1 => cause(error),
            _ => format!("{error:#}"),
        };
        Self { kind: kind(error), why }
    }

    /// Something took too long.
    pub(crate) fn late(seconds: u64) -> Self {
        Self { kind: "no answer", why: format!("the page was not read within {seconds} s") }
    }

    /// Something else.
    pub(crate) fn other(why: &str) -> Self {
        Self { kind: "not shown", why: why.to_owned() }
    }
}

fn kind(error: &anyhow::Error) -> &'static str {
    if error.downcast_ref::<TimedOut>().is_some() {
        return "no answer";
    }
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => match status.code {
            401 => "not signed in",
            403 => "not allowed",
            404 => "not there",
            429 | 500.. => "no answer",
            _ => "refused",
        },
        Some(kube::Error::Service(_) | kube::Error::HyperError(_)) => "no answer",
        Some(kube::Error::Auth(_)) => "not signed in",
        _ => "not shown",
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use kube::core::Status;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(401, "not signed in")]
    #[case(403, "not allowed")]
    #[case(404, "not there")]
    #[case(409, "refused")]
    #[case(503, "no answer")]
    fn a_refusal_is_named(#[case] code: u16, #[case] expected: &str) {
        let status = Status { code, message: "m".to_owned(), ..Status::default() };
        let error = anyhow::Error::from(kube::Error::Api(status.boxed()));
        let found = Failure::of(&error.context("cannot read Subscriptions"));
        assert_eq!(found.kind, expected);
        assert!(found.why.starts_with("cannot read Subscriptions"), "{found:?}");
    }

    #[test]
    fn what_is_not_there_is_no_refusal() {
        let found = Failure::of(&anyhow!("no catalog has it"));
        assert_eq!((found.kind, found.why.as_str()), ("not shown", "no catalog has it"));
    }
}
