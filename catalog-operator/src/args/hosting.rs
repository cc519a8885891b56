//! Flags about catalogs that the operator serves itself, and about registries of images.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use olm_lifecycle::catalog_source::hosting::{PortRange, Scope};
use olm_lifecycle::catalog_source::registry::whole_bytes;

use super::image_limits::{ImageLimit, limits, parse_limit};
use crate::hosting::{CatalogServer, HostOptions};
use crate::unpack::NamespacedName;

/// What serves catalogs, and how registries of images are asked.
#[derive(Clone, Debug, Args)]
pub struct HostingFlags {
    /// What serves catalogs of images: a Pod for each, as in v0 (pod), or the operator itself, which
    /// pulls the images of global catalogs (process).
    #[arg(long = "catalogs", default_value = "pod", value_enum)]
    pub catalogs: CatalogServer,

    /// Namespaces, separated by commas, whose catalogs the operator serves as well with
    /// --catalogs=process; * for all.
    #[arg(long = "catalogs-process-namespaces", value_delimiter = ',')]
    pub catalogs_process_namespaces: Vec<String>,

    /// Folder for catalogs that the operator serves.
    #[arg(long = "catalogs-dir", default_value = "/var/lib/olm-rs/catalogs")]
    pub catalogs_dir: PathBuf,

    /// How much that folder may take; its volume should have a little more.
    #[arg(long = "catalogs-dir-size", default_value = "6Gi", value_parser = parse_bytes)]
    pub catalogs_dir_size: u64,

    /// Ports at which the operator serves catalogs for gRPC clients, one for each.
    #[arg(long = "catalogs-ports", default_value = "50100-50199")]
    pub catalogs_ports: PortRange,

    /// Address at which it serves them; all addresses of the Pod when empty.
    #[arg(long = "catalogs-address")]
    pub catalogs_address: Option<IpAddr>,

    /// Where other replicas are reached, POD-ADDRESS=ADDRESS, separated by commas: for tests on a machine where
    /// addresses of Pods lead nowhere.
    #[arg(long = "catalogs-replica-addresses", value_delimiter = ',', hide = true,
        value_parser = parse_pair)]
    pub catalogs_replica_addresses: Vec<(IpAddr, IpAddr)>,

    /// Other bounds on images of catalogs, LIMIT=NUMBER, separated by commas: for tests with small images.
    #[arg(long = "catalogs-limits", value_delimiter = ',', hide = true, value_parser = parse_limit)]
    pub catalogs_limits: Vec<ImageLimit>,

    /// Secret (NAMESPACE/NAME) with credentials for the images of global catalogs and their bundles,
    /// where the operator pulls them itself.
    #[arg(long = "global-pull-secret")]
    pub global_pull_secret: Option<NamespacedName>,

    /// A registries.conf of version 2 (containers-registries.conf(5)) with mirrors of registries of
    /// images; it is read again when it changes.
    #[arg(long = "registries-config")]
    pub registries_config: Option<PathBuf>,

    /// Files with certificates (PEM), separated by commas, of authorities that registries of images are
    /// trusted by beside those of the system; they are read again when they change.
    #[arg(long = "registry-ca-files", value_delimiter = ',')]
    pub registry_ca_files: Vec<PathBuf>,
}

impl HostingFlags {
    /// How catalogs are hosted; nothing when Pods serve all of them.
    pub fn options(&self, global_namespace: &str) -> Option<HostOptions> {
        (self.catalogs == CatalogServer::Process).then(|| HostOptions {
            scope: Scope::process(global_namespace, &self.catalogs_process_namespaces),
            global_namespace: global_namespace.to_owned(),
            folder: self.catalogs_dir.clone(),
            bytes: self.catalogs_dir_size,
            ports: self.catalogs_ports,
            address: self.catalogs_address,
            limits: limits(&self.catalogs_limits),
            // Kubernetes names the host of a Pod after it.
            pod: std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty()),
            replica_addresses: self.catalogs_replica_addresses.iter().copied().collect(),
        })
    }
}

/// Parses two addresses.
fn parse_pair(text: &str) -> Result<(IpAddr, IpAddr), String> {
    let parse = |text: &str| text.parse::<IpAddr>().map_err(|error| format!("{text:?}: {error}"));
    let (from, to) = text.split_once('=').ok_or_else(|| format!("there is no = in {text:?}"))?;
    Ok((parse(from)?, parse(to)?))
}

/// Parses a quantity of bytes as Kubernetes writes it, for example `6Gi`.
///
/// # Errors
/// The text is no quantity, or one of less than a byte.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let bytes = whole_bytes(text).map_err(|error| error.to_string())?;
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| format!("{text:?} is no number of bytes"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("6Gi", Ok(6 << 30))]
    #[case("1000", Ok(1_000))]
    #[case("2G", Ok(2_000_000_000))]
    #[case("0", Err("\"0\" is no number of bytes"))]
    #[case("100m", Err("\"100m\" is no number of bytes"))]
    fn sizes(#[case] text: &str, #[case] expected: Result<u64, &str>) {
        assert_eq!(parse_bytes(text), expected.map_err(str::to_owned));
    }

    #[test]
    fn what_is_no_quantity_is_named() {
        assert!(parse_bytes("much").unwrap_err().contains("much"));
    }
}
