//! Content that is on the disk because another catalog had it pulled.
//!
//! It is for whoever may pull it, and for no other one: a CatalogSource may name any digest, and any registry.

use super::{PullError, StoredContent};
use crate::image::{ImageReference, Keychain, Limits, Registry, RemoteImage};

/// Has the registry that the image names give out its manifest, with these credentials. That a registry says that it
/// has a digest would prove nothing: the author of a CatalogSource chooses whom to ask.
///
/// # Errors
/// It does not, or what it gives out has another digest.
pub async fn confirm(
    registry: &Registry,
    content: &StoredContent,
    keychain: &Keychain,
) -> Result<(), PullError> {
    let image: ImageReference = content.image.parse()?;
    let image = image.at(&content.digest);
    RemoteImage::open(registry, &image, keychain, &Limits::CATALOG).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::Recorded;
    use super::*;
    use crate::image::tests::made::{REPOSITORY, TestImage, changed, files, path};
    use crate::image::tests::stub::{answer, serve};

    /// A registry that has the image, ones that only say so, and one that gives it to others.
    #[rstest]
    #[case::has_it("", None)]
    #[case::says_so("says so", Some("DigestMismatch"))]
    #[case::has_another("another", Some("DigestMismatch"))]
    #[case::not_for_this_caller("guarded", Some("ImageUnauthorized"))]
    #[case::gone("gone", Some("ImageNotFound"))]
    #[tokio::test]
    async fn the_registry_has_to_give_the_manifest_out(
        #[case] registry: &str,
        #[case] expected: Option<&str>,
    ) {
        let made = TestImage::catalog().layer(files(&[("configs/catalog.json", b"{}")]));
        let (digest, answers) = made.answers();
        let at = path(&digest);
        let claim = format!("Docker-Content-Digest: {digest}\r\n");
        let manifest = "{\"schemaVersion\": 2, \"layers\": []}";
        let answers = match registry {
            "says so" => changed(&answers, at, answer("200 OK", &claim, "")),
            "another" => changed(&answers, at, answer("200 OK", &claim, manifest)),
            "guarded" => changed(&answers, at, answer("403 No", "", "")),
            "gone" => changed(&answers, at, answer("404 Gone", "", "")),
            _ => answers,
        };
        let address = serve(|_| answers.clone()).await;
        let image = format!("{address}/{REPOSITORY}:v1");
        let held = StoredContent { image, digest, folder: None };
        let asked = Registry::new([]).unwrap();
        let confirmed = confirm(&asked, &held, &Keychain::default()).await;
        assert_eq!(confirmed.err().map(|error| error.reason()), expected);
    }

    #[test]
    fn content_that_a_catalog_has_or_had_is_its_own() {
        let held = |digest: &str, folder: Option<&str>| StoredContent {
            image: "a:v1".to_owned(),
            digest: digest.to_owned(),
            folder: folder.map(str::to_owned),
        };
        let recorded = Recorded { current: held("d", None), previous: Some(held("c", None)) };
        let names = |digest: &str, folder| recorded.names(&held(digest, folder).key());
        assert!(names("d", None) && names("c", None));
        assert!(!names("e", None) && !names("d", Some("other")));
    }
}
