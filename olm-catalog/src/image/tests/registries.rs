//! What registries may answer.

use std::collections::BTreeMap;

use olm_types::hash::sha256_hex;
use rstest::rstest;
use serde_json::json;
use tar::{Builder, Header};

use super::super::{ImageError, ImageReference, Keychain, Limits, Registry, Tree, pull};
use super::stub::{StubResponse, answer, ok, serve};

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

/// A layer with the file `a`.
fn layer() -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    let mut header = Header::new_ustar();
    header.set_size(7);
    archive.append_data(&mut header, "a", &b"content"[..]).unwrap();
    archive.into_inner().unwrap()
}

fn manifest(layer: &[u8], size: usize) -> String {
    let kind = "application/vnd.oci.image.layer.v1.tar";
    let layer = json!({"mediaType": kind, "digest": digest(layer), "size": size});
    json!({"schemaVersion": 2, "layers": [layer]}).to_string()
}

/// The answers of a registry that is all right.
pub(super) fn answers() -> BTreeMap<String, StubResponse> {
    let layer = layer();
    BTreeMap::from([
        ("/v2/b/manifests/v1".to_owned(), ok(manifest(&layer, layer.len()))),
        (format!("/v2/b/blobs/{}", digest(&layer)), ok(&layer)),
    ])
}

async fn pulled(reference: String, keychain: &Keychain) -> Result<Tree, ImageError> {
    let registry = Registry::new([]).unwrap();
    let image: ImageReference = reference.parse().unwrap();
    pull(&registry, &image, keychain, &Limits::default()).await
}

/// What comes of an image when these answers take the place of the right ones.
async fn with(changed: &[(&str, StubResponse)]) -> Result<Tree, ImageError> {
    let mut answers = answers();
    answers.extend(changed.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())));
    let address = serve(|_| answers.clone()).await;
    pulled(format!("{address}/b:v1"), &Keychain::default()).await
}

fn keychain(host: &str, user: &str) -> Keychain {
    let auths = json!({"auths": {host: {"username": user, "password": "p"}}}).to_string();
    let mut keychain = Keychain::default();
    keychain.add(|key| (key == ".dockerconfigjson").then_some(auths.as_bytes())).unwrap();
    keychain
}

const BLOB: &str = "/v2/b/blobs/";
const MANIFEST: &str = "/v2/b/manifests/v1";

pub(super) fn blob() -> String {
    format!("{BLOB}{}", digest(&layer()))
}

#[tokio::test]
async fn an_image_is_pulled_by_tag_and_by_digest() {
    assert_eq!(with(&[]).await.unwrap().file("a"), Ok(&b"content"[..]));
    let layer = layer();
    let manifest = manifest(&layer, layer.len());
    let by_digest = format!("/v2/b/manifests/{}", digest(manifest.as_bytes()));
    let address = serve(|_| {
        let mut answers = answers();
        answers.insert(by_digest.clone(), ok(&manifest));
        answers
    })
    .await;
    let reference = format!("{address}/b@{}", digest(manifest.as_bytes()));
    assert!(pulled(reference, &Keychain::default()).await.is_ok());
    let registry = Registry::new([]).unwrap();
    let image = format!("{address}/b:v1").parse().unwrap();
    let found = registry.digest(&image, &Keychain::default()).await;
    assert_eq!(found, Ok(digest(manifest.as_bytes())));
}

#[tokio::test]
async fn what_is_not_what_its_digest_says_is_refused() {
    let mut other = layer();
    other[600] = 1;
    let error = with(&[(&blob(), ok(&other))]).await.unwrap_err();
    assert!(matches!(error, ImageError::Digest { .. }), "{error}");
    let wrong = format!("sha256:{}", "0".repeat(64));
    let path = format!("/v2/b/manifests/{wrong}");
    let manifest = manifest(&layer(), layer().len());
    let address = serve(|_| BTreeMap::from([(path.clone(), ok(&manifest))])).await;
    let error = pulled(format!("{address}/b@{wrong}"), &Keychain::default()).await.unwrap_err();
    assert!(matches!(error, ImageError::Digest { .. }), "{error}");
    assert_eq!(error.reason(), "DigestMismatch");
}

/// A list says how long its manifests are; where it does not, their digest is enough.
#[tokio::test]
async fn manifests_are_as_long_as_their_list_says() {
    let manifest = manifest(&layer(), layer().len());
    let digest = digest(manifest.as_bytes());
    let path = format!("/v2/b/manifests/{digest}");
    let listed = async |size: usize| {
        let list = json!({"schemaVersion": 2, "manifests": [{"digest": digest, "size": size}]});
        with(&[(MANIFEST, ok(list.to_string())), (&path, ok(&manifest))]).await
    };
    assert!(listed(manifest.len()).await.is_ok());
    assert!(listed(0).await.is_ok());
    for other in [manifest.len() - 1, manifest.len() + 1] {
        let error = listed(other).await.unwrap_err();
        assert_eq!(error.reason(), "DigestMismatch", "{error}");
        assert!(error.to_string().contains(&format!("should have {other} bytes")), "{error}");
    }
    assert_eq!(listed(5 << 20).await.unwrap_err().reason(), "ImageInvalid");
}

/// Neither the length that is announced nor the end is relied on.
#[tokio::test]
async fn endless_answers_end() {
    let endless = || StubResponse::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    let error = with(&[(MANIFEST, endless())]).await.unwrap_err();
    assert!(matches!(error, ImageError::TooMuch { .. }), "{error}");
    let error = with(&[(&blob(), endless())]).await.unwrap_err();
    assert!(matches!(error, ImageError::Length { .. }), "{error}");
    assert!(error.to_string().ends_with("should have 2048 bytes and has more"), "{error}");
    let failed = StubResponse::Endless(b"HTTP/1.1 500 Oh\r\n\r\nbroken ".to_vec());
    let error = with(&[(MANIFEST, failed)]).await.unwrap_err();
    assert_eq!(error.reason(), "RegistryUnavailable");
}

/// A byte a second, from the beginning or of a layer; the clock is the test's.
#[tokio::test(start_paused = true)]
async fn answers_that_drip_end() {
    for path in [MANIFEST.to_owned(), blob()] {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n".to_vec();
        let start = tokio::time::Instant::now();
        let error = with(&[(&path, StubResponse::Dripping(head))]).await.unwrap_err();
        assert!(matches!(error, ImageError::Slow { .. }), "{path}: {error}");
        assert!(start.elapsed().as_secs() <= 31, "{:?}", start.elapsed());
    }
}

#[rstest]
#[case::absent(
    MANIFEST,
    answer("404 Not Found", "", ""),
    "ImageNotFound",
    "does not exist in its registry"
)]
#[case::broken(
    MANIFEST,
    answer("500 Oh", "", r#"{"errors": [{"code": "UNKNOWN", "message": "no disk"}]}"#),
    "RegistryUnavailable",
    "with 500: UNKNOWN"
)]
#[case::forbidden(MANIFEST, answer("403 No", "", ""), "ImageUnauthorized", "no right to pull it")]
#[case::no_manifest(
    MANIFEST,
    ok("<html>"),
    "ImageInvalid",
    "manifest: it is no JSON (line 1, column 1)"
)]
#[case::foreign_layer(
    MANIFEST,
    ok(json!({"schemaVersion": 2, "layers": [{"digest": "../../x", "size": 1}]}).to_string()),
    "ImageInvalid",
    "what it names as a digest is none by SHA-256"
)]
#[case::lies_about_its_length(
    MANIFEST, ok(manifest(&layer(), 9_999)), "DigestMismatch", "should have 9999 bytes and has 2048"
)]
#[case::too_short(
    &blob(), ok(&layer()[..600]), "DigestMismatch", "should have 2048 bytes and has 600"
)]
#[case::too_long(
    &blob(), ok([layer(), vec![0]].concat()), "DigestMismatch", "should have 2048 bytes and has 2049"
)]
#[case::cut_off(
    &blob(),
    StubResponse::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nshort".to_vec()),
    "RegistryUnavailable",
    "cannot be reached"
)]
#[case::in_circles(
    MANIFEST,
    answer("307 There", &format!("Location: {MANIFEST}\r\n"), ""),
    "RegistryUnavailable",
    "more than 5 redirects"
)]
#[case::to_somewhere_inside(
    &blob(),
    answer("307 There", "Location: http://127.0.0.1:1/secret\r\n", ""),
    "RegistryUnavailable",
    "not asked over TLS"
)]
#[tokio::test]
async fn bad_answers(
    #[case] path: &str,
    #[case] given: StubResponse,
    #[case] reason: &str,
    #[case] text: &str,
) {
    let error = with(&[(path, given)]).await.unwrap_err();
    assert_eq!(error.reason(), reason, "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

#[tokio::test]
async fn no_server_answers() {
    let error = pulled("127.0.0.1:1/b:v1".to_owned(), &Keychain::default()).await.unwrap_err();
    assert_eq!(error.reason(), "RegistryUnavailable");
    assert!(error.to_string().contains("127.0.0.1:1 cannot be reached"), "{error}");
}

/// `me:p` in base64.
const ME: &str = "Basic bWU6cA==";

/// The registry sends us for a token, and gives the token only to those whom it knows.
#[tokio::test]
async fn tokens_are_fetched_with_credentials() {
    let address = serve(|address| {
        let challenge =
            format!("WWW-Authenticate: Bearer realm=\"http://{address}/token\",service=\"r\"\r\n");
        let unknown = answer("401 Who", &challenge, "");
        let token = "/token?service=r&scope=repository:b:pull".to_owned();
        let known = ok(json!({"token": "T"}).to_string());
        let stranger = answer("401 No", "", "");
        let guarded = answers().into_iter().map(|(path, answer)| {
            (path, StubResponse::For("Bearer T", Box::new(answer), Box::new(unknown.clone())))
        });
        let token = (token, StubResponse::For(ME, Box::new(known), Box::new(stranger)));
        guarded.chain([token]).collect()
    })
    .await;
    let image = || format!("{address}/b:v1");
    assert!(pulled(image(), &keychain(&address, "me")).await.is_ok());
    let error = pulled(image(), &keychain(&address, "you")).await.unwrap_err();
    assert_eq!(error.reason(), "ImageUnauthorized");
    assert!(error.to_string().contains("the CatalogSource's spec.secrets"), "{error}");
}

/// Credentials do not follow a redirect to another host.
#[tokio::test]
async fn credentials_stay_with_their_registry() {
    let layer = layer();
    let storage = serve(|_| {
        let taken = answer("400 Bad", "", "credentials of another host");
        let open = StubResponse::For(ME, Box::new(taken), Box::new(ok(&layer)));
        BTreeMap::from([("/layer".to_owned(), open)])
    })
    .await;
    let address = serve(|_| {
        let moved = answer("307 There", &format!("Location: http://{storage}/layer\r\n"), "");
        let who = answer("401 Who", "WWW-Authenticate: Basic realm=\"r\"\r\n", "");
        let mut answers = answers();
        answers.insert(blob(), moved);
        let guarded = answers.into_iter().map(|(path, answer)| {
            (path, StubResponse::For(ME, Box::new(answer), Box::new(who.clone())))
        });
        guarded.collect()
    })
    .await;
    let registry = Registry::new([storage]).unwrap();
    let image = format!("{address}/b:v1").parse().unwrap();
    let tree = pull(&registry, &image, &keychain(&address, "me"), &Limits::default()).await;
    assert_eq!(tree.unwrap().file("a"), Ok(&b"content"[..]));
}
