//! Which bundle of a package is looked at.

use olm_types::api::{PackageChannel, PackageManifestStatus};

use crate::search::default_channel;

/// What was asked for is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDetails {
    /// There is no such channel.
    #[error("package {package} has no channel {channel}, but {channels}")]
    NoChannel {
        /// The package.
        package: String,
        /// What was asked for.
        channel: String,
        /// Those that there are.
        channels: String,
    },
    /// There is no such version.
    #[error("package {package} has no version {version} there, but {versions}")]
    NoVersion {
        /// The package.
        package: String,
        /// What was asked for.
        version: String,
        /// Those that there are.
        versions: String,
    },
}

/// A channel and the CSV in it that is looked at: the head, or that of a version.
///
/// # Errors
/// There is no such channel or version.
pub fn chosen<'a>(
    status: &'a PackageManifestStatus,
    channel: Option<&str>,
    version: Option<&str>,
) -> Result<(&'a PackageChannel, String), NoDetails> {
    let package = || status.package_name.clone();
    let joined = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let no_channel = |channel: &str| NoDetails::NoChannel {
        package: package(),
        channel: channel.to_owned(),
        channels: joined(&mut status.channels.iter().map(|one| one.name.as_str())),
    };
    let candidates: Vec<&PackageChannel> = match channel {
        Some(name) => status.channels.iter().filter(|one| one.name == name).collect(),
        None => {
            let default = default_channel(status);
            let others =
                status.channels.iter().filter(|one| Some(&one.name) != default.map(|d| &d.name));
            default.into_iter().chain(others.filter(|_| version.is_some())).collect()
        }
    };
    let first = candidates.first().copied().ok_or_else(|| no_channel(channel.unwrap_or("")))?;
    let Some(version) = version else { return Ok((first, first.current_csv.clone())) };
    let is_it = |name: &str, known: Option<&str>| name == version || known == Some(version);
    for channel in &candidates {
        let head = channel.current_csv_desc.as_ref().and_then(|head| head.version.as_deref());
        if is_it(&channel.current_csv, head) {
            return Ok((channel, channel.current_csv.clone()));
        }
        let mut entries = channel.entries.iter();
        if let Some(found) = entries.find(|one| is_it(&one.name, one.version.as_deref())) {
            return Ok((channel, found.name.clone()));
        }
    }
    let known = candidates.iter().flat_map(|channel| &channel.entries);
    let versions = joined(&mut known.map(|entry| entry.name.as_str()));
    Err(NoDetails::NoVersion { package: package(), version: version.to_owned(), versions })
}
