//! What does not fit together: this program, the OLMs of a cluster, and its API server.

use crate::settings::{Flavour, Installation};

/// The oldest API server that the tests run on, as major and minor version.
const TESTED: (u32, u32) = (1, 34);

/// What does not fit together, a sentence each: several OLMs, operators of another version than the client, an API
/// server older than those that are tested. A version that is not known, such as that of an image with another tag,
/// fits.
#[must_use]
pub fn skew(client: &str, installations: &[Installation], server: Option<&str>) -> Vec<String> {
    let several = several(installations);
    let others = installations.iter().filter_map(|olm| other_version(client, olm));
    several.into_iter().chain(others).chain(server.and_then(older)).collect()
}

fn several(installations: &[Installation]) -> Option<String> {
    let name = |olm: &Installation| format!("{} in {}", olm.flavour.as_str(), olm.namespace);
    let names: Vec<String> = installations.iter().map(name).collect();
    (names.len() > 1).then(|| {
        format!("the cluster has {} OLMs, which undo each other: {}", names.len(), names.join(", "))
    })
}

/// The versions of OLM v0 have nothing to do with those of the client.
fn other_version(client: &str, olm: &Installation) -> Option<String> {
    let version = image_version(&olm.image).filter(|_| olm.flavour == Flavour::OlmRs)?;
    (version != client).then(|| {
        format!("the client has version {client}, olm-rs in {} has {version}", olm.namespace)
    })
}

/// The version that the tag of an image says, such as `0.1.0` of `registry:5000/olm-rs:v0.1.0@sha256:…`.
fn image_version(image: &str) -> Option<&str> {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let (_, tag) = name.rsplit('/').next()?.split_once(':')?;
    let version = tag.strip_prefix('v').unwrap_or(tag);
    let numbers: Vec<&str> = version.splitn(3, '.').collect();
    let is_number = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit());
    (numbers.len() == 3 && numbers.iter().all(is_number)).then_some(version)
}

fn older(server: &str) -> Option<String> {
    let found = minor_version(server)?;
    let (major, minor) = TESTED;
    (found < TESTED).then(|| {
        format!("the API server has version {server}, {major}.{minor} is the oldest that is tested")
    })
}

/// Major and minor version of `v1.34.1+k3s1`; providers write `34+` as well.
fn minor_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
    let mut number = || {
        let text = numbers.next()?;
        text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    };
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn olm(flavour: Flavour, namespace: &str, image: &str) -> Installation {
        Installation { flavour, namespace: namespace.to_owned(), image: image.to_owned() }
    }

    #[rstest]
    #[case::same("v0.1.0", None)]
    #[case::without_v("0.1.0", None)]
    #[case::newer("v0.2.0", Some("0.2.0"))]
    #[case::older("v0.0.9", Some("0.0.9"))]
    #[case::candidate("v0.1.0-rc.1", Some("0.1.0-rc.1"))]
    #[case::pinned("v0.2.0@sha256:00", Some("0.2.0"))]
    #[case::latest("latest", None)]
    #[case::short("v1", None)]
    fn operators_of_another_version_are_named(#[case] tag: &str, #[case] version: Option<&str>) {
        let image = format!("registry.example.com:5000/team/olm-rs:{tag}");
        let found = skew("0.1.0", &[olm(Flavour::OlmRs, "olm", &image)], Some("v1.34.0"));
        let expected = version
            .map(|version| format!("the client has version 0.1.0, olm-rs in olm has {version}"));
        assert_eq!(found, Vec::from_iter(expected));
    }

    #[rstest]
    #[case("registry.example.com:5000/olm-rs", None)]
    #[case("olm-rs@sha256:00", None)]
    #[case("olm-rs:1.2.3", Some("1.2.3"))]
    #[case("", None)]
    fn only_a_tag_says_a_version(#[case] image: &str, #[case] expected: Option<&str>) {
        assert_eq!(image_version(image), expected);
    }

    #[test]
    fn versions_of_v0_are_its_own() {
        let v0 = olm(Flavour::V0, "olm", "quay.io/operator-framework/olm:v0.46.0");
        assert_eq!(skew("0.1.0", &[v0], Some("v1.34.0")), Vec::<String>::new());
    }

    #[test]
    fn several_olms_are_named_before_their_versions() {
        let all = [olm(Flavour::OlmRs, "a", "olm-rs:v0.2.0"), olm(Flavour::V0, "b", "olm:v0.46.0")];
        let found = skew("0.1.0", &all, None);
        let expected = [
            "the cluster has 2 OLMs, which undo each other: olm-rs in a, OLM v0 in b",
            "the client has version 0.1.0, olm-rs in a has 0.2.0",
        ];
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case("v1.34.0", false)]
    #[case("v1.36.2+k3s1", false)]
    #[case("v2.0.0", false)]
    #[case("v1.33.9", true)]
    #[case("v1.33+", true)]
    #[case("v1.9.0", true)]
    #[case("unknown", false)]
    fn an_api_server_that_is_not_tested_is_named(#[case] server: &str, #[case] is_older: bool) {
        let found = skew("0.1.0", &[], Some(server));
        assert_eq!(found.len(), usize::from(is_older), "{found:?}");
        assert!(found.iter().all(|line| line.contains(server) && line.contains("1.34")));
    }
}
