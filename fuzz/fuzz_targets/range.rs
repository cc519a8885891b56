//! Version ranges, those of catalogs and those of users: reading one, and testing versions, must neither panic nor
//! hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_types::version::{Range, Version, VersionRange};

const VERSIONS: [&str; 6] =
    ["0.0.0", "0.4.9", "1.0.0-rc.1", "1.0.0", "1.2.3+b", "18446744073709551615.0.0"];

fuzz_target!(|text: &str| {
    if let Ok(range) = Range::parse(text) {
        test(|version| range.contains(version));
        assert!(Range::parse(&range.to_string()).is_ok(), "{range} does not parse again");
    }
    if let Ok(range) = VersionRange::parse(text) {
        test(|version| range.contains(version));
        assert_eq!(VersionRange::parse(&range.to_string()), Ok(range));
    }
});

fn test(contains: impl Fn(&Version) -> bool) {
    for version in VERSIONS.into_iter().filter_map(|text| Version::parse(text).ok()) {
        let _ = contains(&version);
    }
}
