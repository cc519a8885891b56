//! What users read when there is no answer: v0's line, then the sentences for people.

mod support;

use olm_resolver::{ResolveError, Resolver};
use support::Problem;

fn explain(text: &str) -> String {
    let summary = match Problem::read(text).resolve(&Resolver::default()) {
        Err(ResolveError::NotSatisfiable(explanation)) => explanation.summary(),
        other => support::outcome(other),
    };
    format!("{}\n{summary}", support::failure(text))
}

#[test]
fn missing_package() {
    insta::assert_snapshot!(explain("a.v1 a/alpha\nsub b b/alpha"), @r#"
    constraints not satisfiable: no operators found in package b in the catalog referenced by subscription b, subscription b exists
    Subscription b asks for package b, which CatalogSource olm/community does not hold. Correct spec.name, or spec.source, of the Subscription.
    "#);
}

#[test]
fn missing_channel() {
    insta::assert_snapshot!(explain("a.v1 a/alpha\nsub a a/beta"), @r#"
    constraints not satisfiable: no operators found in channel beta of package a in the catalog referenced by subscription a, subscription a exists
    Subscription a asks for channel beta of package a, which does not exist in CatalogSource olm/community. Correct spec.channel of the Subscription.
    "#);
}

#[test]
fn missing_catalog() {
    insta::assert_snapshot!(explain("a.v1 a/alpha\nsub a a/alpha in:olm/nowhere"), @r#"
    constraints not satisfiable: no operators found from catalog nowhere in namespace olm referenced by subscription a, subscription a exists
    Subscription a asks for package a from CatalogSource olm/nowhere, which does not exist, is not visible in this namespace, or is empty. Create the CatalogSource, or name another one in the Subscription.
    "#);
}

#[test]
fn missing_starting_csv() {
    insta::assert_snapshot!(explain("a.v1 a/alpha\nsub a a/alpha start:a.v9"), @r#"
    constraints not satisfiable: no operators found with name a.v9 in channel alpha of package a in the catalog referenced by subscription a, subscription a exists
    Subscription a is to start with a.v9, which is not in channel alpha of package a of CatalogSource olm/community. Correct spec.startingCSV of Subscription a, or remove it to start with the newest.
    "#);
}

#[test]
fn dependency_without_provider() {
    insta::assert_snapshot!(explain("a.v1 a/alpha ?1\nsub a a/alpha"), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator providing an API with group: g1, version: v1, kind: k1, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 requires a provider of the API k1 (g1/v1), which no channel of the visible catalogs offers. Add a CatalogSource that offers a provider.
    "#);
}

#[test]
fn dependency_of_a_dependency() {
    insta::assert_snapshot!(explain("a.v1 a/alpha ?1\nb.v1 b/alpha +1 ?2\nsub a a/alpha"), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator providing an API with group: g1, version: v1, kind: k1, bundle b.v1 requires an operator providing an API with group: g2, version: v2, kind: k2, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 requires a provider of the API k1 (g1/v1), which is b.v1. b.v1 requires a provider of the API k2 (g2/v2), which no channel of the visible catalogs offers. Add a CatalogSource that offers a provider.
    "#);
}

#[test]
fn range_without_candidate() {
    insta::assert_snapshot!(explain("
        a.v1 a/alpha needs:b:>=2.0.0
        b.v1@1.0.0 b/alpha
        b.v1.5@1.5.0 b/alpha ->b.v1
        sub a a/alpha"), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator with package: b and with version in range: >=2.0.0, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 requires package b in version >=2.0.0, but the catalogs only offer 1.5.0 and 1.0.0. Add a CatalogSource that offers such a version of b.
    "#);
}

#[test]
fn package_that_nobody_offers() {
    insta::assert_snapshot!(explain("a.v1 a/alpha needs:b:>=2.0.0\nsub a a/alpha"), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator with package: b and with version in range: >=2.0.0, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 requires package b in version >=2.0.0, which no visible catalog holds. Add a CatalogSource that offers such a version of b.
    "#);
}

#[test]
fn two_providers() {
    insta::assert_snapshot!(explain("a.v1 a/alpha +1\nb.v1 b/alpha +1\nsub a a/alpha\nsub b b/alpha"), @r#"
    constraints not satisfiable: community/olm/alpha/a.v1 and community/olm/alpha/b.v1 provide k1 (g1/v1), subscription a exists, subscription a requires community/olm/alpha/a.v1, subscription b exists, subscription b requires community/olm/alpha/b.v1
    Subscription a needs a.v1 (channel alpha of olm/community). Subscription b needs b.v1 (channel alpha of olm/community). Only one provider of the API k1 (g1/v1) can be in a namespace: a.v1 or b.v1. Use different namespaces, or delete one of the Subscriptions.
    "#);
}

#[test]
fn two_channels_of_one_package() {
    insta::assert_snapshot!(explain("a.v1 a/alpha\na.v2 a/beta\nsub a a/alpha\nsub b a/beta"), @r#"
    constraints not satisfiable: community/olm/alpha/a.v1 and community/olm/beta/a.v2 originate from package a, subscription a exists, subscription a requires community/olm/alpha/a.v1, subscription b exists, subscription b requires community/olm/beta/a.v2
    Subscription a needs a.v1 (channel alpha of olm/community). Subscription b needs a.v2 (channel beta of olm/community). Only one bundle of package a can be in a namespace: a.v1 or a.v2. Use different namespaces, or delete one of the Subscriptions.
    "#);
}

#[test]
fn orphan_csv() {
    insta::assert_snapshot!(explain("a.v1 a/alpha +1\ncsv mine +1\nsub a a/alpha"), @r#"
    constraints not satisfiable: @existing/olm//mine and community/olm/alpha/a.v1 provide k1 (g1/v1), clusterserviceversion mine exists and is not referenced by a subscription, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). ClusterServiceVersion mine is in the namespace without a Subscription. Only one provider of the API k1 (g1/v1) can be in a namespace: the installed mine or a.v1. Delete ClusterServiceVersion mine, or create a Subscription for it whose startingCSV is mine.
    "#);
}

#[test]
fn orphan_with_unmet_requirement() {
    insta::assert_snapshot!(explain("csv mine ?1"), @r#"
    constraints not satisfiable: bundle mine requires an operator providing an API with group: g1, version: v1, kind: k1, clusterserviceversion mine exists and is not referenced by a subscription
    ClusterServiceVersion mine is in the namespace without a Subscription. The installed mine requires a provider of the API k1 (g1/v1), which no channel of the visible catalogs offers. Delete ClusterServiceVersion mine, or create a Subscription for it whose startingCSV is mine.
    "#);
}

#[test]
fn deprecated_bundle() {
    insta::assert_snapshot!(explain("a.v1 a/alpha deprecated\nsub a a/alpha"), @r#"
    constraints not satisfiable: bundle community/olm/alpha/a.v1 is deprecated, subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 is deprecated and must not be installed.
    "#);
}

#[test]
fn cel_refusal() {
    insta::assert_snapshot!(explain(r#"
        a.v1 a/alpha {"failureMessage":"needs\u0020arm","cel":{"rule":"properties.exists(p,p.type=='arm')"}}
        sub a a/alpha"#), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator with constraint: "properties.exists(p,p.type=='arm')" and message: "needs arm", subscription a exists, subscription a requires community/olm/alpha/a.v1
    Subscription a needs a.v1 (channel alpha of olm/community). a.v1 requires a bundle that meets its constraint "needs arm", which no channel of the visible catalogs offers. Add a CatalogSource that offers one.
    "#);
}

#[test]
fn many_candidates() {
    insta::assert_snapshot!(explain("
        a.v1 a/alpha ?1
        a.v2 a/alpha ->a.v1 ?1
        a.v3 a/alpha ->a.v2 ?1
        a.v4 a/alpha ->a.v3 ?1
        a.v5 a/alpha ->a.v4 ?1
        sub a a/alpha"), @r#"
    constraints not satisfiable: bundle a.v1 requires an operator providing an API with group: g1, version: v1, kind: k1, bundle a.v2 requires an operator providing an API with group: g1, version: v1, kind: k1, bundle a.v3 requires an operator providing an API with group: g1, version: v1, kind: k1, bundle a.v4 requires an operator providing an API with group: g1, version: v1, kind: k1, bundle a.v5 requires an operator providing an API with group: g1, version: v1, kind: k1, subscription a exists, subscription a requires at least one of community/olm/alpha/a.v5, community/olm/alpha/a.v4, community/olm/alpha/a.v3, community/olm/alpha/a.v2 or community/olm/alpha/a.v1
    Subscription a needs a.v5 (channel alpha of olm/community), a.v4 (channel alpha of olm/community), a.v3 (channel alpha of olm/community) or 2 more. a.v5, a.v4, a.v3 and 2 more require a provider of the API k1 (g1/v1), which no channel of the visible catalogs offers. Add a CatalogSource that offers a provider.
    "#);
}

#[test]
fn failed_upgrade_leaves_two_csvs() {
    insta::assert_snapshot!(explain("
        a.v1 a/alpha +1
        a.v2 a/alpha ->a.v1 +1
        a.v3 a/alpha ->a.v2 +1
        csv a.v1 +1 phase:Replacing
        csv a.v2 ->a.v1 +1 phase:Failed
        sub a-alpha a/alpha is:a.v2"), @r#"
    constraints not satisfiable: @existing/olm//a.v1, @existing/olm//a.v2 and community/olm/alpha/a.v3 provide k1 (g1/v1), clusterserviceversion a.v1 exists and is not referenced by a subscription, subscription a-alpha exists, subscription a-alpha requires at least one of community/olm/alpha/a.v3 or @existing/olm//a.v2
    Subscription a-alpha needs a.v3 (channel alpha of olm/community) or the installed a.v2. ClusterServiceVersion a.v1 is in the namespace without a Subscription. Only one provider of the API k1 (g1/v1) can be in a namespace: the installed a.v1, the installed a.v2 or a.v3. Delete ClusterServiceVersion a.v1, or create a Subscription for it whose startingCSV is a.v1.
    "#);
}
