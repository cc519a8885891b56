//! Why an image is unavailable.

use std::time::Duration;

use thiserror::Error;

/// An image cannot be pulled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// The registry cannot be reached, or breaks off.
    #[error("the registry {host} cannot be reached: {why}")]
    Unreachable {
        /// Host of the registry, or of one that it points at.
        host: String,
        /// What went wrong.
        why: String,
    },
    /// Too little came for too long.
    #[error(
        "the registry {host} is too slow: an answer has to begin within {} s, and each mebibyte of \
         it to come in that time; look at the registry and the network before it, or use a mirror",
        .after.as_secs()
    )]
    Slow {
        /// Host of the registry.
        host: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// Rules about registries leave no place for it.
    #[error("{0} is blocked by the configuration of registries, and no mirror is left")]
    Blocked(String),
    /// The registry wants to be asked later.
    #[error("the registry {host} asks for a pause of {} s", .after.as_secs())]
    Limited {
        /// Host of the registry.
        host: String,
        /// How long from now on.
        after: Duration,
    },
    /// There is no such image.
    #[error("{0} does not exist in its registry; check its name, and whether it was pushed")]
    NotFound(String),
    /// The registry wants other credentials.
    #[error(
        "the registry refuses {image}: {why}; name a Secret with credentials for {host} in the \
         CatalogSource's spec.secrets"
    )]
    Unauthorized {
        /// The image.
        image: String,
        /// Host of the registry.
        host: String,
        /// What it said, and which credentials there were.
        why: String,
    },
    /// The registry answers with another error.
    #[error("the registry answers {url} with {code}{}", said(.error.as_deref()))]
    Status {
        /// What it was asked for.
        url: String,
        /// HTTP status.
        code: u16,
        /// Its error code, if it gave one; no more of what it said.
        error: Option<String>,
    },
    /// What the registry refers to, or the configuration of registries, cannot be asked. It says nothing
    /// about the image.
    #[error("{what}: {why}")]
    Misleading {
        /// Reference, answer or configuration.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A registry in public refers to a host that is not.
    #[error(
        "the registry refers to {host}, whose address is not public as its own is; use a registry \
         that gives its content itself"
    )]
    NotPublic {
        /// Host that it refers to.
        host: String,
    },
    /// Something is larger than allowed.
    #[error("{what} has more than {limit} {unit}")]
    TooMuch {
        /// What is too large.
        what: String,
        /// Most of it.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// The content is not what its name says.
    #[error("{what} should have the digest {expected} and has {found}")]
    Digest {
        /// Manifest or layer.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The content has another length than its descriptor says: it is not what it is said to be.
    #[error("{what} should have {expected} bytes and has {found}")]
    Length {
        /// Manifest, config or layer.
        what: String,
        /// Bytes by its descriptor.
        expected: u64,
        /// Bytes that there are, or that there are more.
        found: String,
    },
    /// The registry sends what cannot be used.
    #[error("{what}: {why}")]
    Malformed {
        /// Manifest, layer or answer.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The disk takes no more, or fails.
    #[error("{what} cannot be written: {why}")]
    Disk {
        /// Layer or file.
        what: String,
        /// What the system said.
        why: String,
    },
    /// A layer cannot be used.
    #[error("layer {digest}: {source}")]
    Layer {
        /// Its digest.
        digest: String,
        /// What is wrong with it.
        source: LayerError,
    },
}

/// A layer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayerError {
    /// It is no archive, or is cut off.
    #[error("it is no tar archive: {0}")]
    Archive(String),
    /// Its part of the time is over.
    #[error("it was not read in the time that there was for it")]
    Late,
    /// Its parts are compressed too well to be meant well.
    #[error("it unpacks to more than {0} times its size")]
    Bomb(u64),
    /// It holds too much.
    #[error("it holds more than {limit} {unit}, or the layers before it do")]
    TooMuch {
        /// Most of it.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// A path leads out of the image.
    #[error("the path {0:?} leads out of the image")]
    Outside(String),
    /// A path is too long, too deep or empty.
    #[error("the path {path:?} {why}")]
    Path {
        /// The path, cut.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A device, a pipe, or something that no image needs.
    #[error("{path} is {kind}, which no bundle needs")]
    Kind {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A link to nothing.
    #[error("{path} is a hard link to {target}, which is no file of the image")]
    Dangling {
        /// The link.
        path: String,
        /// What it should be the same as.
        target: String,
    },
    /// Links go round.
    #[error("the links on the way to {0} go round in circles")]
    Circle(String),
}

impl ImageError {
    /// How long the registry wants not to be asked, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited { after, .. } => Some(*after),
            _ => None,
        }
    }

    /// The reason in one word, for a condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unreachable { .. }
            | Self::Slow { .. }
            | Self::Limited { .. }
            | Self::Status { .. }
            | Self::Misleading { .. }
            | Self::NotPublic { .. } => "RegistryUnavailable",
            Self::NotFound(_) => "ImageNotFound",
            Self::Unauthorized { .. } => "ImageUnauthorized",
            Self::Digest { .. } | Self::Length { .. } => "DigestMismatch",
            Self::Disk { .. } => "StorageFailed",
            Self::Blocked(_) => "ImageUnauthorized",
            Self::TooMuch { .. } | Self::Malformed { .. } | Self::Layer { .. } => "ImageInvalid",
        }
    }
}

fn said(error: Option<&str>) -> String {
    error.map(|error| format!(": {error}")).unwrap_or_default()
}
