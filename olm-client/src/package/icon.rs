//! The picture of a package, as the packages API serves it.

use anyhow::{Context, Result, anyhow, ensure};
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Limited};
use kube::Resource;
use kube::client::Body;
use olm_types::api::PackageManifest;

use crate::cluster::Cluster;

/// A picture, as its author has made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// What it is said to be.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The picture of a package that the namespace sees, of at most `limit` bytes.
///
/// # Errors
/// There is none, it is larger, it may not be read, or time runs out.
pub async fn icon(cluster: &Cluster, package: &str, limit: usize) -> Result<Icon> {
    ensure!(is_name(package), "{package} is no name of a package");
    let home = cluster.namespace.as_str();
    let url = PackageManifest::url_path(&(), Some(home));
    let request = Request::get(format!("{url}/{package}/icon")).body(Body::empty());
    let request = request.context("cannot make a request")?;
    let response = cluster.answer(cluster.client.send(request)).await?;
    ensure!(response.status().is_success(), "there is no picture: {}", response.status());
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|said| said.to_str().ok());
    let media_type = media_type.unwrap_or_default().to_owned();
    let read = Limited::new(response.into_body(), limit).collect();
    let bytes = match cluster.timeout {
        Some(longest) => {
            tokio::time::timeout(longest, read).await.context("it is sent too slowly")?
        }
        None => read.await,
    };
    let bytes = bytes.map_err(|error| anyhow!("the picture cannot be read: {error}"))?.to_bytes();
    Ok(Icon { media_type, bytes: bytes.to_vec() })
}

/// A name becomes a part of an address.
fn is_name(package: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    !package.is_empty()
        && package.len() <= 253
        && package.chars().all(plain)
        && !package.starts_with('.')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("kettle", true)]
    #[case("a.b-c_d", true)]
    #[case("", false)]
    #[case("..", false)]
    #[case("../secrets", false)]
    #[case("a/b", false)]
    #[case("a?b", false)]
    #[case("a%2fb", false)]
    fn a_name_stays_one_part_of_an_address(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_name(name), expected);
    }
}
