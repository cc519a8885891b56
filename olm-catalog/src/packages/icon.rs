//! The picture of a package.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_types::api::PackageManifest;

/// A picture as it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// Its media type, for example `image/png`.
    pub media_type: String,
    /// Its bytes.
    pub data: Box<[u8]>,
    /// Which version of it this is, quoted as HTTP wants it: `"<package>.<channel>.<csv>"`.
    pub etag: String,
}

/// What packages without a picture show: a plain box.
pub const DEFAULT_ICON: &str = concat!(
    r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">"##,
    r##"<path fill="#d1d1d1" d="M32 4 58 18v28L32 60 6 46V18z"/>"##,
    r##"<path fill="none" stroke="#8d8d8f" stroke-width="3" d="M6 18l26 14 26-14M32 32v28"/></svg>"##,
);

/// The first picture of the CSV at the head of the default channel. Data that is no base64 is no
/// picture.
pub(super) fn icon(package: &PackageManifest) -> Option<Icon> {
    let status = package.status.as_ref()?;
    let channel = status.channels.iter().find(|channel| channel.name == status.default_channel)?;
    let icon = channel.current_csv_desc.as_ref()?.icon.first()?;
    let data = STANDARD.decode(icon.base64data.as_bytes()).ok()?;
    Some(Icon {
        media_type: icon.mediatype.clone(),
        data: data.into(),
        etag: format!("\"{}.{}.{}\"", status.package_name, channel.name, channel.current_csv),
    })
}
