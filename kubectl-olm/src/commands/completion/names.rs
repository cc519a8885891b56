//! Names of a cluster, for as long as a user waits for them.

use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::Api;
use olm_client::Cluster;
use olm_types::api::{PackageManifest, Subscription};
use tokio::time::timeout;

use crate::args::{Cli, View};
use crate::connection::Connection;

/// How long a shell waits.
const LONGEST: Duration = Duration::from_secs(2);

/// Names of what are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Subscriptions.
    Subscriptions,
    /// Packages of Subscriptions.
    Installed,
    /// Packages of the catalogs that a namespace sees.
    Packages,
    /// Namespaces.
    Namespaces,
}

/// The names, sorted; none where the cluster does not answer in time. Flags of the line come before those of the
/// program itself.
pub(super) async fn names(kind: Names, flags: &[&str], own: &Cli) -> Vec<String> {
    let line = ["kubectl-olm"].into_iter().chain(flags.iter().copied()).chain(["list"]);
    let named = Cli::try_parse_from(line).ok().filter(|_| !flags.is_empty());
    let cli = named.as_ref().unwrap_or(own);
    let found = timeout(LONGEST, read(kind, &cli.connection, cli.view)).await;
    let mut names = found.ok().and_then(Result::ok).unwrap_or_default();
    names.retain(|name| is_plain(name));
    names.sort();
    names.dedup();
    names
}

async fn read(kind: Names, connection: &Connection, view: View) -> Result<Vec<String>> {
    let cluster = connection.connect().await?;
    let home = (!view.all_namespaces).then_some(cluster.namespace.as_str());
    match kind {
        Names::Subscriptions => {
            let found = subscriptions(&cluster, home).await?;
            Ok(found.into_iter().filter_map(|one| one.metadata.name).collect())
        }
        Names::Installed => {
            let found = subscriptions(&cluster, home).await?;
            Ok(found.into_iter().map(|one| one.spec.name).collect())
        }
        Names::Packages => {
            let packages = cluster.api::<PackageManifest>(Some(&cluster.namespace));
            let found = cluster.metadata(&packages, None).await?;
            Ok(found.into_iter().filter_map(|metadata| metadata.name).collect())
        }
        Names::Namespaces => {
            let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
            let found = cluster.metadata(&namespaces, None).await?;
            Ok(found.into_iter().filter_map(|metadata| metadata.name).collect())
        }
    }
}

async fn subscriptions(cluster: &Cluster, home: Option<&str>) -> Result<Vec<Subscription>> {
    cluster.list(&cluster.api(home)).await
}

/// Whether a shell takes it as it stands: the name of a package may be any text.
fn is_plain(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_safe)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("kettle-operator.v2", true)]
    #[case("a_b", true)]
    #[case("", false)]
    #[case("--yes", false)]
    #[case("a b", false)]
    #[case("$(reboot)", false)]
    #[case("a\n:0", false)]
    #[case("\u{1b}[2J", false)]
    fn nothing_is_offered_that_a_shell_would_act_on(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_plain(name), expected);
    }

    #[test]
    fn without_a_cluster_there_are_no_names() {
        let own = Cli::try_parse_from(["kubectl-olm", "list"]).unwrap();
        let flags = ["--kubeconfig", "/dev/null/none"];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(names(Names::Subscriptions, &flags, &own));
        assert_eq!(found, Vec::<String>::new());
    }
}
