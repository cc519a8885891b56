//! Layers of a bundle image: the first byte says how they are compressed, lines of equals signs are
//! between them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_catalog::bundle::unpack;
use olm_catalog::image::{Compression, Limits, apply};

/// Small bounds, so that inputs reach them.
const LIMITS: Limits = Limits {
    layers: 8,
    transferred: 1 << 20,
    unpacked: 4 << 20,
    ratio: 100,
    free: 64 << 10,
    entries: 200,
    depth: 8,
    path: 256,
    names: 64 << 10,
    looks: 20_000,
    file: 64 << 10,
    kept: 256 << 10,
    until: None,
};

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let compression = match first {
        b'z' => Compression::Zstd,
        first if first % 2 == 0 => Compression::None,
        _ => Compression::Gzip,
    };
    let layers = separated(rest, b"\n====\n");
    let layers = layers.into_iter().take(LIMITS.layers).map(|layer| (layer, compression));
    match apply(layers, &LIMITS) {
        Ok(tree) => {
            if let Ok(bundle) = unpack(&tree) {
                let bytes: usize = bundle.files.iter().map(|file| file.content.len()).sum();
                assert!(bytes as u64 <= LIMITS.kept, "{bytes} bytes were kept");
            }
        }
        Err(error) => drop(error.to_string()),
    }
});

fn separated<'a>(mut input: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = input.windows(separator.len()).position(|window| window == separator) {
        let (part, rest) = input.split_at(at);
        parts.push(part);
        input = rest.get(separator.len()..).unwrap_or_default();
    }
    parts.push(input);
    parts
}
