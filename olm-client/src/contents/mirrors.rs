//! Other places of images: those that a flag names, and those that OpenShift's sets of mirrors name.

use anyhow::{Result, anyhow};
use serde_json::Value;

/// Kinds with mirrors, and the list in their specification.
pub(super) const KINDS: [[&str; 5]; 3] = [
    [
        "config.openshift.io",
        "v1",
        "ImageDigestMirrorSet",
        "imagedigestmirrorsets",
        "imageDigestMirrors",
    ],
    ["config.openshift.io", "v1", "ImageTagMirrorSet", "imagetagmirrorsets", "imageTagMirrors"],
    [
        "operator.openshift.io",
        "v1alpha1",
        "ImageContentSourcePolicy",
        "imagecontentsourcepolicies",
        "repositoryDigestMirrors",
    ],
];

/// A place, and another one with the same images below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    source: String,
    mirror: String,
}

impl std::str::FromStr for Mirror {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty());
        let (source, mirror) = parts.ok_or_else(|| anyhow!("it is not SOURCE=MIRROR"))?;
        Ok(Self { source: source.to_owned(), mirror: mirror.to_owned() })
    }
}

/// The mirrors in an object of one of the [`KINDS`].
pub(super) fn of_object(object: &Value, list: &str) -> Vec<Mirror> {
    let entries = object.pointer("/spec").and_then(|spec| spec[list].as_array());
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten() {
        let source = entry["source"].as_str().unwrap_or_default();
        let mirrors = entry["mirrors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(
            mirrors
                .filter(|_| !source.is_empty())
                .map(|mirror| Mirror { source: source.to_owned(), mirror: mirror.to_owned() }),
        );
    }
    found
}

/// Where an image may be: at its mirrors, those of the longest place first, and where it says itself.
pub(super) fn places(image: &str, mirrors: &[Mirror]) -> Vec<String> {
    let mut fitting: Vec<(&Mirror, &str)> =
        mirrors.iter().filter_map(|one| Some((one, rest(image, &one.source)?))).collect();
    fitting.sort_by_key(|(mirror, _)| std::cmp::Reverse(mirror.source.len()));
    let mirrored = fitting.into_iter().map(|(mirror, rest)| format!("{}{rest}", mirror.mirror));
    mirrored.chain([image.to_owned()]).collect()
}

/// What follows a place in a reference: a part of its path, a tag or a digest.
fn rest<'a>(image: &'a str, source: &str) -> Option<&'a str> {
    let rest = image.strip_prefix(source)?;
    let is_part = rest.starts_with(['/', '@']) || (rest.starts_with(':') && source.contains('/'));
    (rest.is_empty() || is_part).then_some(rest)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::none("quay.io/a/b:1", &[], "quay.io/a/b:1")]
    #[case::host("quay.io/a/b:1", &["quay.io=m:5000"], "m:5000/a/b:1 quay.io/a/b:1")]
    #[case::repository("quay.io/a/b@sha256:0", &["quay.io/a/b=m/c"], "m/c@sha256:0 quay.io/a/b@sha256:0")]
    #[case::longest("quay.io/a/b:1", &["quay.io=m", "quay.io/a=n"], "n/b:1 m/a/b:1 quay.io/a/b:1")]
    #[case::other("quay.io/ab:1", &["quay.io/a=m"], "quay.io/ab:1")]
    #[case::port("quay.io:443/a", &["quay.io=m"], "quay.io:443/a")]
    fn an_image_is_looked_for_at_its_mirrors_first(
        #[case] image: &str,
        #[case] mirrors: &[&str],
        #[case] expected: &str,
    ) {
        let mirrors: Vec<Mirror> = mirrors.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(places(image, &mirrors).join(" "), expected);
    }

    #[test]
    fn sets_of_mirrors_are_read() {
        let object = json!({"spec": {"imageDigestMirrors": [
            {"source": "quay.io/a", "mirrors": ["m/a", 5]}, {"mirrors": ["n"]}]}});
        let found = of_object(&object, "imageDigestMirrors");
        assert_eq!(found, ["quay.io/a=m/a".parse().unwrap()]);
        assert_eq!(of_object(&json!(5), "imageDigestMirrors"), []);
        assert!("a".parse::<Mirror>().is_err() && "=b".parse::<Mirror>().is_err());
    }
}
