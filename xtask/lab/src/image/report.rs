//! What is printed about an image.

use std::path::Path;
use std::time::Duration;

use olm_testkit::oci::{Image, Pushed};

/// Prints where the archive is, the digest, sizes and the time it took.
pub fn print(image: &Image, archive: &Path, took: Duration) {
    println!("archive   {}", archive.display());
    println!("digest    {}", image.digest());
    for (number, layer) in (1..).zip(image.layers()) {
        let (packed, unpacked) = (layer.size(), layer.uncompressed_size());
        println!("layer {number}   {} ({} unpacked)", megabytes(packed), megabytes(unpacked));
    }
    println!("size      {}", megabytes(image.size()));
    println!("time      {:.1} s", took.as_secs_f64());
}

/// Prints where the image is available from now on.
pub fn print_pushed(pushed: &Pushed) {
    println!("pushed    {}\n          {}", pushed.reference, pushed.pinned());
}

/// Millions of bytes, as registries count.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0.0 MB")]
    #[case(1, "0.1 MB")]
    #[case(1_200_000, "1.2 MB")]
    #[case(39_999_999, "40.0 MB")]
    fn sizes_are_rounded_up(#[case] bytes: u64, #[case] text: &str) {
        assert_eq!(megabytes(bytes), text);
    }
}
