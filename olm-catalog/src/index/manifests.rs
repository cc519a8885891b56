//! Manifests of bundles: how an index keeps them, and how they get into an answer.

use std::io;
use std::sync::Arc;

use serde_json::json;

use super::csv_metadata;
use super::encoded::EncodedMessage;
use super::storage::{Span, Storage, Writer};
use super::table::{CsvRow, ManifestRow, PresentationRow};
use crate::fbc::{Bundle, BundleContent, PackageBlob};
use crate::registry::proto;

/// Number of the field `csvJson`.
const CSV: u8 = 4;

/// Number of the field `object`.
const OBJECT: u8 = 5;

/// What follows the number of a field: a length and that many bytes.
const TEXT: u8 = 2;

/// Writes text and icon of a package, for the CSVs that are made for its bundles: fields of a
/// CSV's `spec`, each with a comma behind it.
pub(super) fn write_presentation(
    writer: &mut Writer,
    package: &PackageBlob,
) -> io::Result<PresentationRow> {
    let mut field = |name: &str, value| writer.append(format!("\"{name}\":{value},").as_bytes());
    let description = match package.description.as_str() {
        "" => Span::default(),
        text => field("description", json!(text))?,
    };
    let icon = package.icon.as_ref().map(|icon| {
        let icon = json!([{ "base64data": icon.base64data, "mediatype": icon.mediatype }]);
        field("icon", icon)
    });
    Ok(PresentationRow { description, icon: icon.transpose()?.unwrap_or_default() })
}

/// Writes the manifests of a bundle as far as the catalog has them.
pub(super) fn write(
    writer: &mut Writer,
    bundle: &Bundle,
    content: &BundleContent,
) -> io::Result<ManifestRow> {
    let given = content.csv.as_ref();
    let (mut objects, mut csv) = (Span::default(), CsvRow::None);
    for object in &content.objects {
        objects = objects.joined(writer.append(&header(OBJECT, object.len() as u64))?);
        let text = writer.append(object.as_bytes())?;
        objects = objects.joined(text);
        if matches!(csv, CsvRow::None) && given == Some(object) {
            csv = CsvRow::Given(text);
        }
    }
    if let Some(made) = csv_metadata::csv(bundle, content) {
        let front = writer.append(made.front.as_bytes())?;
        let back = writer.append(made.back.as_bytes())?;
        csv = CsvRow::Made { front, back, describe: made.describe };
    }
    Ok(ManifestRow { objects, csv })
}

impl ManifestRow {
    /// Adds CSV and objects to an answer.
    pub(super) fn give(
        &self,
        package: &PresentationRow,
        storage: &Arc<Storage>,
        answer: &mut EncodedMessage<proto::Bundle>,
    ) {
        let mut text = |field, parts: &[Span]| {
            answer.hold(header(field, parts.iter().map(|part| part.len()).sum()));
            parts.iter().for_each(|part| answer.store(storage, *part));
        };
        match self.csv {
            CsvRow::None => {}
            CsvRow::Given(csv) => text(CSV, &[csv]),
            CsvRow::Made { front, back, describe } => {
                let description = if describe { package.description } else { Span::default() };
                let parts = [front, description, package.icon, back];
                text(CSV, &parts);
                if self.objects.len() == 0 {
                    text(OBJECT, &parts);
                }
            }
        }
        answer.store(storage, self.objects);
    }
}

/// What stands in front of a text.
fn header(field: u8, mut length: u64) -> Vec<u8> {
    let mut bytes = vec![field << 3 | TEXT];
    while length >= 1 << 7 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes
}
