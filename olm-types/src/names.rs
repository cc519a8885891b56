//! Names as types, so that a package is not taken for a channel.
//!
//! Reading checks what Kubernetes demands of the name; the error says what is allowed. Packages and
//! channels are names of catalogs, which only demand that there is one.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

/// A text that cannot be a name of this sort.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid {what} {text:?}: {rule}")]
pub struct NameError {
    /// What sort of name it should be.
    pub what: &'static str,
    /// The text.
    pub text: String,
    /// What is allowed.
    pub rule: &'static str,
}

/// What a name may be made of.
#[derive(Clone, Copy)]
enum Rule {
    /// DNS-1123 label.
    Label,
    /// DNS-1123 subdomain: labels joined by dots.
    Subdomain,
    /// Anything but nothing.
    NotEmpty,
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a name.
            ///
            /// # Errors
            /// When the text is no such name; the error says what is allowed.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                Rule::$rule.check($what, text).map(|()| Self(text.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// Name of a Namespace.
    Namespace, "namespace", Label
);
name!(
    /// Name of a CatalogSource.
    CatalogName, "CatalogSource name", Subdomain
);
name!(
    /// Name of a ClusterServiceVersion, which is also the name of its bundle.
    CsvName, "ClusterServiceVersion name", Subdomain
);
name!(
    /// Name of a Subscription.
    SubscriptionName, "Subscription name", Subdomain
);
name!(
    /// Name of an OperatorGroup.
    OperatorGroupName, "OperatorGroup name", Subdomain
);
name!(
    /// Name of an InstallPlan.
    InstallPlanName, "InstallPlan name", Subdomain
);
name!(
    /// Name of a package in a catalog.
    PackageName, "package name", NotEmpty
);
name!(
    /// Name of a channel of a package.
    ChannelName, "channel name", NotEmpty
);

impl Rule {
    fn check(self, what: &'static str, text: &str) -> Result<(), NameError> {
        let fits = match self {
            Self::Label => is_label(text),
            Self::Subdomain => text.len() <= 253 && text.split('.').all(is_subdomain_part),
            Self::NotEmpty => !text.is_empty(),
        };
        match fits {
            true => Ok(()),
            false => Err(NameError { what, text: text.to_owned(), rule: self.text() }),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Label => {
                "at most 63 lower case letters, digits and '-' are allowed; it starts and ends with a letter or digit"
            }
            Self::Subdomain => {
                "at most 253 lower case letters, digits, '-' and '.' are allowed; \
                 it and every part between dots starts and ends with a letter or digit"
            }
            Self::NotEmpty => "it must not be empty",
        }
    }
}

fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_subdomain_part(text)
}

/// Parts of a subdomain have no limit of their own in Kubernetes.
fn is_subdomain_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("default", true)]
    #[case("a-1", true)]
    #[case(&"a".repeat(63), true)]
    #[case(&"a".repeat(64), false)]
    #[case("", false)]
    #[case("a.b", false)]
    #[case("-a", false)]
    #[case("a-", false)]
    #[case("A", false)]
    #[case("a_b", false)]
    #[case("ä", false)]
    fn namespaces(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(Namespace::parse(text).is_ok(), valid);
    }

    #[rstest]
    #[case("etcdoperator.v0.9.4-clusterwide", true)]
    #[case(&"a".repeat(100), true)]
    #[case(&"a".repeat(254), false)]
    #[case("a..b", false)]
    #[case("a.-b", false)]
    #[case("", false)]
    #[case("a/b", false)]
    fn csv_names(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(CsvName::parse(text).is_ok(), valid);
    }

    #[test]
    fn errors_say_what_is_allowed() {
        insta::assert_snapshot!(Namespace::parse("My_NS").unwrap_err(), @r#"invalid namespace "My_NS": at most 63 lower case letters, digits and '-' are allowed; it starts and ends with a letter or digit"#);
        insta::assert_snapshot!(PackageName::parse("").unwrap_err(), @r#"invalid package name "": it must not be empty"#);
        insta::assert_snapshot!("a b".parse::<CsvName>().unwrap_err(), @r#"invalid ClusterServiceVersion name "a b": at most 253 lower case letters, digits, '-' and '.' are allowed; it and every part between dots starts and ends with a letter or digit"#);
    }

    #[test]
    fn names_print_as_written() {
        let channel = ChannelName::parse("stable-v1.2").unwrap();
        assert_eq!(
            (channel.as_str(), channel.to_string().as_str()),
            ("stable-v1.2", "stable-v1.2")
        );
    }
}
