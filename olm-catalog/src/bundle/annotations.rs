//! `metadata/annotations.yaml` of a bundle (spec catalog-operator 6.6).

use std::collections::BTreeMap;

use olm_types::annotations as keys;
use olm_types::document::{self, Budget, Meter};
use serde_json::Value;
use thiserror::Error;

/// Largest file with annotations, in bytes. Real ones have about a thousand.
pub(crate) const ANNOTATIONS_BYTES: u64 = 256 << 10;

/// What a bundle says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleAnnotations {
    /// Folder with the manifests.
    pub manifests: Option<String>,
    /// Format of the bundle, `registry+v1`.
    pub media_type: Option<String>,
    /// Folder with the metadata.
    pub metadata: Option<String>,
    /// Package that the bundle belongs to.
    pub package: Option<String>,
    /// Channels, separated by commas.
    pub channels: Option<String>,
    /// The default channel of the package.
    pub default_channel: Option<String>,
}

/// A file with annotations cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnnotationsError {
    /// The file system refuses.
    #[error("{0}")]
    Unreadable(String),
    /// It is larger than allowed.
    #[error("the file is larger than {ANNOTATIONS_BYTES} bytes")]
    TooLarge,
    /// It is not YAML.
    #[error("not YAML: {0}")]
    Syntax(String),
    /// It has no annotations.
    #[error("there is no map `annotations`")]
    NoAnnotations,
    /// A value is no text.
    #[error("annotation {0:?} must be a text; put quotes around it")]
    NoText(&'static str),
}

impl BundleAnnotations {
    /// Reads the content of a file. Keys other than those of the fields are passed over.
    ///
    /// # Errors
    /// It is too large, is not YAML, or has a value of the wrong type.
    pub fn parse(bytes: &[u8]) -> Result<Self, AnnotationsError> {
        if bytes.len() as u64 > ANNOTATIONS_BYTES {
            return Err(AnnotationsError::TooLarge);
        }
        let read = document::first(bytes, &mut Meter::in_all(Budget::PROPERTY));
        let read = read.map_err(|error| AnnotationsError::Syntax(error.to_string()))?;
        Self::of_document(&read)
    }

    /// Reads the content of a file that is parsed already.
    ///
    /// # Errors
    /// It has no annotations or has a value of the wrong type.
    pub(super) fn of_document(file: &Value) -> Result<Self, AnnotationsError> {
        let values = file.get("annotations").and_then(Value::as_object);
        let values = values.ok_or(AnnotationsError::NoAnnotations)?;
        let mut annotations = Self::default();
        for (key, field) in annotations.fields() {
            match values.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => *field = Some(text.clone()),
                Some(_) => return Err(AnnotationsError::NoText(key)),
            }
        }
        Ok(annotations)
    }

    /// Whether it names a package or channels, without which it describes no bundle.
    pub(super) fn says_something(&self) -> bool {
        let texts = [&self.package, &self.channels, &self.default_channel];
        texts.into_iter().flatten().any(|text| !text.is_empty())
    }

    /// Whether there is not one of them.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All of them as annotations of an object; those that are missing are empty, as v0 has them.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let mut copy = self.clone();
        let fields =
            copy.fields().map(|(key, value)| (key.to_owned(), value.take().unwrap_or_default()));
        fields.into()
    }

    /// Those that are among the annotations of an object and not empty.
    pub fn from_map(map: &BTreeMap<String, String>) -> Self {
        let mut annotations = Self::default();
        for (key, field) in annotations.fields() {
            *field = map.get(key).filter(|value| !value.is_empty()).cloned();
        }
        annotations
    }

    fn fields(&mut self) -> [(&'static str, &mut Option<String>); 6] {
        [
            (keys::BUNDLE_MANIFESTS, &mut self.manifests),
            (keys::BUNDLE_MEDIA_TYPE, &mut self.media_type),
            (keys::BUNDLE_METADATA, &mut self.metadata),
            (keys::BUNDLE_PACKAGE, &mut self.package),
            (keys::BUNDLE_CHANNELS, &mut self.channels),
            (keys::BUNDLE_DEFAULT_CHANNEL, &mut self.default_channel),
        ]
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn what_is_there_is_read() {
        let text = "\
            # a comment\n\
            annotations:\n  \
              operators.operatorframework.io.bundle.manifests.v1: manifests/\n  \
              operators.operatorframework.io.bundle.package.v1: \"etcd\"\n  \
              operators.operatorframework.io.metrics.builder: operator-sdk\n";
        let annotations = BundleAnnotations::parse(text.as_bytes()).unwrap();
        assert_eq!(annotations.manifests.as_deref(), Some("manifests/"));
        assert_eq!(annotations.package.as_deref(), Some("etcd"));
        assert_eq!(annotations.channels, None);
        let map = annotations.to_map();
        assert_eq!(map.len(), 6);
        assert_eq!(map[keys::BUNDLE_CHANNELS], "");
        assert_eq!(BundleAnnotations::from_map(&map), annotations);
    }

    #[rstest]
    #[case("", "there is no map `annotations`")]
    #[case("annotations: [a]", "there is no map `annotations`")]
    #[case(
        "annotations: {operators.operatorframework.io.bundle.channels.v1: 4.1}",
        "annotation \"operators.operatorframework.io.bundle.channels.v1\" must be a text; put quotes around it"
    )]
    fn mistakes(#[case] text: &str, #[case] message: &str) {
        assert_eq!(BundleAnnotations::parse(text.as_bytes()).unwrap_err().to_string(), message);
    }

    #[test]
    fn hostile_files_are_refused() {
        let deep = "[".repeat(100_000);
        let syntax = BundleAnnotations::parse(deep.as_bytes()).unwrap_err();
        assert!(matches!(syntax, AnnotationsError::Syntax(_)), "{syntax}");
        let long = vec![b'#'; 300 << 10];
        assert_eq!(BundleAnnotations::parse(&long), Err(AnnotationsError::TooLarge));
        assert!(BundleAnnotations::parse(&[0xff, 0xfe, 0]).is_err());
    }
}
