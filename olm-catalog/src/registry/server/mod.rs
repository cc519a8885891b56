//! Serves a [`Source`], such as an [`Index`], over the registry protocol.
//!
//! Content never changes while a server runs, as with `opm`; a [`SwitchedServer`] runs one after the
//! other at the same port. Errors have the code Unknown, which
//! clients of v0 expect.

mod body;
mod calls;
mod chunk;
mod clients;
mod experimental;
mod serve;
mod streams;
mod switch;

use std::fmt::Debug;

use olm_types::gvk::Gvk;
use prost_types::Struct;

use crate::index::{EncodedMessage, Index, QueryError};
use crate::registry::proto;

pub use serve::{ServeError, ServerOptions, serve};
pub use switch::SwitchedServer;

/// The content of a catalog, as the calls of the registry protocol ask for it.
pub trait Source: Debug + Send + Sync {
    /// Names of all packages.
    fn packages(&self) -> Vec<proto::PackageName>;

    /// One package.
    ///
    /// # Errors
    /// There is no such package.
    fn package(&self, name: &str) -> Result<proto::Package, QueryError>;

    /// How many entries a listing has.
    fn len(&self) -> usize;

    /// Whether a listing is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An entry by its place in the listing, if there is one.
    fn listed(&self, place: usize) -> Option<EncodedMessage<proto::Bundle>>;

    /// A bundle of a channel.
    ///
    /// # Errors
    /// There is no such bundle.
    fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError>;

    /// The head of a channel.
    ///
    /// # Errors
    /// There is no such channel.
    fn head(
        &self,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError>;

    /// Entries of every channel that replace or skip a bundle.
    ///
    /// # Errors
    /// There is none.
    fn entries_that_replace(&self, name: &str) -> Result<Vec<proto::ChannelEntry>, QueryError>;

    /// A bundle of one channel that replaces or skips another.
    ///
    /// # Errors
    /// There is none.
    fn bundle_that_replaces(
        &self,
        name: &str,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError>;

    /// Entries of every channel that provide an API.
    ///
    /// # Errors
    /// There is none.
    fn entries_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError>;

    /// The newest entry of every channel that provides an API.
    ///
    /// # Errors
    /// There is none.
    fn heads_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError>;

    /// The bundle that provides an API in the default channel of a package.
    ///
    /// # Errors
    /// There is none.
    fn default_provider(&self, api: &Gvk) -> Result<EncodedMessage<proto::Bundle>, QueryError>;

    /// How many blobs there are of a schema without meaning here, of a package or of none.
    fn meta_count(&self, _schema: &str, _package: &str) -> usize {
        0
    }

    /// One of these blobs, by its place.
    fn meta(&self, _schema: &str, _package: &str, _place: usize) -> Option<EncodedMessage<Struct>> {
        None
    }
}

impl Source for Index {
    fn packages(&self) -> Vec<proto::PackageName> {
        self.packages().collect()
    }

    fn package(&self, name: &str) -> Result<proto::Package, QueryError> {
        self.package(name)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn listed(&self, place: usize) -> Option<EncodedMessage<proto::Bundle>> {
        self.listed(place)
    }

    fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        self.bundle(package, channel, name)
    }

    fn head(
        &self,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        self.head(package, channel)
    }

    fn entries_that_replace(&self, name: &str) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        self.entries_that_replace(name)
    }

    fn bundle_that_replaces(
        &self,
        name: &str,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        self.bundle_that_replaces(name, package, channel)
    }

    fn entries_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        self.entries_that_provide(api)
    }

    fn heads_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        self.heads_that_provide(api)
    }

    fn default_provider(&self, api: &Gvk) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        self.default_provider(api)
    }

    fn meta_count(&self, schema: &str, package: &str) -> usize {
        self.meta_count(schema, package)
    }

    fn meta(&self, schema: &str, package: &str, place: usize) -> Option<EncodedMessage<Struct>> {
        self.meta(schema, package, place)
    }
}
