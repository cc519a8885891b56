//! CEL rules: compiled, and run on a bundle. Whatever is accepted must end soon.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use olm_resolver::constraint::Requirement;
use olm_resolver::constraint::cel::CelRequirement;
use olm_resolver::problem::{Bundle, BundleId};
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};

fuzz_target!(|text: &str| {
    if let Ok(requirement) = CelRequirement::compile(text.to_owned(), String::new()) {
        let _ = requirement.holds(&bundle());
    }
});

fn bundle() -> Bundle {
    let properties = [
        Property::new("olm.package", r#"{"packageName":"b","version":"1.0.1"}"#),
        Property::new("olm.gvk", r#"{"group":"g","version":"v","kind":"k"}"#),
        Property::new("list", r#"[1,2.5,"x",null,{"a":true}]"#),
    ];
    let entry = Entry {
        name: "b.v1".into(),
        package: "b".into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("olm", "cat"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: properties.into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    };
    Bundle::new(BundleId(0), Arc::new(entry))
}
