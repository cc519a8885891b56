//! Version ranges: reading one, and testing versions, must neither panic nor hang.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_types::version::{Range, Version};

fuzz_target!(|text: &str| {
    let Ok(range) = Range::parse(text) else { return };
    for version in ["0.0.0", "0.4.9", "1.0.0-rc.1", "1.0.0", "1.2.3+b", "18446744073709551615.0.0"]
    {
        if let Ok(version) = Version::parse(version) {
            let _ = range.contains(&version);
        }
    }
    let again = Range::parse(&range.to_string());
    assert!(again.is_ok(), "{range} does not parse again");
});
