//! A bundle by itself, as a message of the protocol.

use super::{csv_metadata, record};
use crate::fbc::{self, BundleBlob, Located, Problems};
use crate::registry::proto;

/// The message of a bundle that is in no channel: without the fields that a channel gives it, with
/// its manifests.
///
/// # Errors
/// Something is wrong with the bundle; all of it is reported.
pub fn single_bundle(blob: Located<BundleBlob>) -> Result<proto::Bundle, Problems> {
    let package = blob.item.package.clone();
    let mut problems = Problems::default();
    let read = fbc::read_bundle(blob, &mut problems);
    let Some((bundle, content)) = read.filter(|_| problems.is_empty()) else {
        return Err(problems);
    };
    let mut message = record::listed(&package, &bundle, &content);
    let made = csv_metadata::csv(&bundle, &content).map(|made| made.front + &made.back);
    message.object = content.objects;
    if let (Some(csv), true) = (&made, message.object.is_empty()) {
        message.object.push(csv.clone());
    }
    message.csv_json = made.or(content.csv).unwrap_or_default();
    Ok(message)
}
