//! Any property of a bundle that a Subscription wants: both policies must come to an end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use olm_fuzz::entry;
use olm_resolver::memory::MemoryUniverse;
use olm_resolver::{Policy, ResolutionRequest, Resolver, SubscriptionFacts};
use olm_types::bundle::Property;
use olm_types::version::Version;

fuzz_target!(|text: &str| {
    let (kind, value) = text.split_once('\n').unwrap_or(("olm.constraint", text));
    let universe: MemoryUniverse =
        [entry("a", [Property::new(kind, value)]), entry("b", [Property::new("olm.label", "{}")])]
            .into_iter()
            .collect();
    let subscription = SubscriptionFacts {
        name: "s".to_owned(),
        package: "a".to_owned(),
        ..SubscriptionFacts::default()
    };
    let request = ResolutionRequest {
        subscriptions: vec![subscription],
        cluster_version: Some(Version::new(1, 30, 0)),
        ..ResolutionRequest::new("olm", &universe)
    };
    for policy in [Policy::V0, Policy::Isolated] {
        let answer = Resolver::default().outcome(&request, policy);
        for refusal in answer.refusals {
            let _ = refusal.error.to_string();
        }
    }
});
