//! From an `olm.bundle` blob to a bundle, with all that can be wrong with it alone.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use olm_types::document::{self, Budget, Meter, plain_numbers};
use olm_types::version::Version;
use serde::Deserialize;

use super::blob::{BundleBlob, Located};
use super::model::{Bundle, BundleContent};
use super::problem::{Problem, Problems};
use super::properties::{self, PackageValue};
use super::{image_ref, release};

/// Collects the problems of one bundle.
struct Report<'a> {
    package: &'a str,
    name: &'a str,
    problems: Vec<String>,
}

/// Reads the bundle. What is wrong is reported; a bundle whose properties cannot be read is none.
pub(crate) fn read(
    blob: Located<BundleBlob>,
    problems: &mut Problems,
) -> Option<(Bundle, BundleContent)> {
    let Located { origin, item } = blob;
    let (package, name) = (item.package.clone(), item.name.clone());
    let mut report = Report { package: &package, name: &name, problems: Vec::new() };
    check_images(&item, &mut report);
    let bundle = match properties::sort(item.properties) {
        Ok((properties, manifests)) => {
            let value = package_value(&properties.packages, &mut report);
            let (objects, csv) = decode_all(&manifests, &mut report);
            let bundle = Bundle {
                name: item.name,
                image: item.image,
                version: value.version,
                release: value.release,
                manifests: objects.len(),
                deprecation: None,
                origin: origin.clone(),
            };
            let related_images = item.related_images;
            Some((bundle, BundleContent { properties, objects, csv, related_images }))
        }
        Err(error) => {
            report.push(format!("parse properties for bundle {name:?}: {error}"));
            None
        }
    };
    for message in report.problems {
        problems.push(Problem::of_bundle(&package, &name, message).at(&origin));
    }
    bundle
}

impl Report<'_> {
    fn push(&mut self, message: String) {
        self.problems.push(message);
    }

    /// A message that begins with the names of package and bundle, as `opm` prints most.
    fn push_named(&mut self, message: &str) {
        let named = format!("package {:?} bundle {:?} {message}", self.package, self.name);
        self.push(named);
    }
}

fn check_images(bundle: &BundleBlob, report: &mut Report<'_>) {
    let related = bundle.related_images.iter().enumerate();
    let related = related
        .map(|(index, related)| (format!("relatedImages[{index}].image"), related.image.as_str()));
    for (field, image) in
        std::iter::once(("image".to_owned(), bundle.image.as_str())).chain(related)
    {
        if let Some(error) = (!image.is_empty()).then(|| image_ref::check(image).err()).flatten() {
            report.push_named(&format!("{field}: invalid image pull spec {image:?}: {error}"));
        }
    }
}

/// The only `olm.package` property, checked.
fn package_value(values: &[PackageValue], report: &mut Report<'_>) -> PackageValue {
    let [value] = values else {
        report.push_named(&format!(
            "must have exactly 1 \"olm.package\" property, found {}",
            values.len()
        ));
        return PackageValue::default();
    };
    let name = report.name.to_owned();
    if value.package_name != report.package {
        report.push(format!(
            "package {:?} does not match \"olm.package\" property {:?}",
            report.package, value.package_name
        ));
    }
    if let Err(error) = Version::parse(&value.version) {
        report.push(format!("error parsing bundle {name:?} version {:?}: {error}", value.version));
    }
    if let Err(error) = release::check(&value.release) {
        report.push(format!(
            "error parsing bundle {name:?} release version {:?}: {error}",
            value.release
        ));
    }
    value.clone()
}

/// Kind of a manifest.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

/// The manifests, and the first CSV among them.
fn decode_all(manifests: &[String], report: &mut Report<'_>) -> (Vec<String>, Option<String>) {
    let (mut objects, mut csv) = (Vec::new(), None);
    let mut meter = Meter::in_all(Budget::BUNDLE);
    for (index, manifest) in manifests.iter().enumerate() {
        match decode(manifest, &mut meter) {
            Ok((text, kind)) => {
                if kind == "ClusterServiceVersion" && csv.is_none() {
                    csv = Some(text.clone());
                }
                objects.push(text);
            }
            Err(error) => report.push_named(&format!("object[{index}]: {error}")),
        }
    }
    (objects, csv)
}

/// JSON text and kind of a manifest given as base64 of JSON or YAML. JSON is kept as it is.
fn decode(base64: &str, meter: &mut Meter) -> Result<(String, String), String> {
    let bytes = STANDARD.decode(base64).map_err(|error| format!("data is not base64: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| format!("data is not UTF-8: {error}"))?;
    let text = if text.trim_start().starts_with('{') {
        text
    } else {
        let value = document::yaml(&text, meter)
            .map_err(|error| format!("data is neither JSON nor YAML: {error}"))?;
        plain_numbers(value).to_string()
    };
    let Kind { kind } = document::json_as(&text, &Budget::OBJECT)
        .map_err(|error| format!("data is not a Kubernetes object: {error}"))?;
    Ok((text, kind))
}
