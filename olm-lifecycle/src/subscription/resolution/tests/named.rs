//! CSVs that a user's InstallPlan names.

use olm_types::bundle::{BundleContent, CatalogKey, Entry};
use rstest::rstest;

use super::*;

fn plan_of(names: &[&str]) -> InstallPlan {
    let spec = InstallPlanSpec {
        cluster_service_version_names: names.iter().map(|name| (*name).to_owned()).collect(),
        ..InstallPlanSpec::default()
    };
    InstallPlan::new("by-hand", spec)
}

/// An entry of `a.v1` in a catalog of this name.
fn offered(catalog: &str, channel: &str, in_default_channel: bool) -> Arc<Entry> {
    let mut entry = Entry::clone(&entry("a", channel, "a.v1"));
    entry.catalog = CatalogKey::new("ns", catalog);
    entry.in_default_channel = in_default_channel;
    Arc::new(entry)
}

#[rstest]
#[case::priority(&[(0, "low", "stable", true), (5, "high", "beta", false)], "high/beta")]
#[case::default_channel(&[(0, "c", "beta", false), (0, "c", "stable", true)], "c/stable")]
#[case::first(&[(0, "one", "stable", true), (0, "two", "stable", true)], "one/stable")]
fn the_best_entry_of_a_name_is_subscribed_to(
    #[case] offers: &[(i64, &str, &str, bool)],
    #[case] expected: &str,
) {
    let found = |_: &str| {
        let offers = offers.iter();
        offers
            .map(|(priority, c, channel, default)| (*priority, offered(c, channel, *default)))
            .collect()
    };
    let subscriptions =
        named_subscriptions(&plan_of(&["a.v1"]), &namespace(Vec::new()), found).unwrap();
    let spec = &subscriptions[0].spec;
    assert_eq!(format!("{}/{}", spec.source, spec.channel.as_deref().unwrap()), expected);
    assert_eq!((spec.name.as_str(), spec.starting_csv.as_deref()), ("a", Some("a.v1")));
    assert_eq!(subscriptions[0].metadata.namespace.as_deref(), Some("ns"));
}

#[test]
fn what_is_installed_is_not_looked_for_and_what_no_catalog_has_is_refused() {
    let mut namespace = namespace(Vec::new());
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let subscribed =
        |names: &[&str]| named_subscriptions(&plan_of(names), &namespace, |_| Vec::new());
    assert!(subscribed(&["a.v1"]).unwrap().is_empty());
    let error = subscribed(&["a.v1", "b.v1"]).unwrap_err().to_string();
    assert_eq!(error, "no catalog that the namespace sees has a bundle b.v1");
}

#[test]
fn dependencies_get_no_subscription_and_images_are_refused() {
    let find = |_: &str| vec![(0, entry("a", "stable", "a.v1"))];
    let mut namespace = namespace(Vec::new());
    namespace.subscriptions = named_subscriptions(&plan_of(&["a.v1"]), &namespace, find).unwrap();
    let (named, dependency) = (entry("a", "stable", "a.v1"), entry("b", "stable", "b.v1"));
    let choices = [choice(named, ""), choice(dependency.clone(), "")];
    let selection = select_named(&namespace, &choices).unwrap();
    assert!(selection.dependencies.is_empty());
    let steps = named_steps(&namespace, &selection, &fetch(&selection)).unwrap();
    let names: Vec<_> = steps.iter().map(|step| step.resource.name.as_str()).collect();
    assert_eq!(names, ["a.v1", "b.v1"]);
    let mut image = Entry::clone(&dependency);
    image.content = BundleContent::Image("quay.io/b:v1".into());
    let error = select_named(&namespace, &[choice(Arc::new(image), "")]).unwrap_err().to_string();
    assert!(error.starts_with("bundle b.v1 is in the image quay.io/b:v1, and"), "{error}");
}

#[test]
fn a_plan_of_what_is_installed_has_no_steps() {
    let namespace = namespace(Vec::new());
    let error = named_steps(&namespace, &Selection::default(), &[]).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to install");
}
