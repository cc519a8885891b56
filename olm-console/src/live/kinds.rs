//! What each page watches.

use kube::core::ApiResource;

use crate::pages::Page;

/// Where the objects of a kind are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WatchScope {
    /// In the namespace of the page.
    Home,
    /// In the namespace of global catalogs.
    Global,
    /// In all namespaces.
    Everywhere,
}

/// A kind of which a page watches the objects.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    pub(crate) plural: &'static str,
    /// Labels that an object has, or has not.
    pub(crate) selector: Option<&'static str>,
    pub(crate) place: WatchScope,
}

/// The group of OLM.
const OLM: &str = "operators.coreos.com";

static SUBSCRIPTIONS: Kind = Kind::new(OLM, "v1alpha1", "Subscription", "subscriptions");
static INSTALL_PLANS: Kind = Kind::new(OLM, "v1alpha1", "InstallPlan", "installplans");
/// Copies stand for a CSV of another namespace, which is none of this page.
static CSVS: Kind = Kind {
    selector: Some("!olm.copiedFrom"),
    ..Kind::new(OLM, "v1alpha1", "ClusterServiceVersion", "clusterserviceversions")
};
static CATALOGS: Kind = Kind::new(OLM, "v1alpha1", "CatalogSource", "catalogsources");
/// The catalogs that all namespaces see.
static GLOBAL_CATALOGS: Kind =
    Kind::new(OLM, "v1alpha1", "CatalogSource", "catalogsources").at(WatchScope::Global);
static DEPLOYMENTS: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
static PODS: Kind = Kind::new("", "v1", "Pod", "pods");
static EVENTS: Kind = Kind::new("", "v1", "Event", "events");
static ALL_SUBSCRIPTIONS: Kind =
    Kind::new(OLM, "v1alpha1", "Subscription", "subscriptions").at(WatchScope::Everywhere);
static ALL_INSTALL_PLANS: Kind =
    Kind::new(OLM, "v1alpha1", "InstallPlan", "installplans").at(WatchScope::Everywhere);
static ALL_CSVS: Kind = Kind {
    selector: Some("!olm.copiedFrom"),
    ..Kind::new(OLM, "v1alpha1", "ClusterServiceVersion", "clusterserviceversions")
        .at(WatchScope::Everywhere)
};
static ALL_CATALOGS: Kind =
    Kind::new(OLM, "v1alpha1", "CatalogSource", "catalogsources").at(WatchScope::Everywhere);

/// Pages that are live, by the name that they have in addresses. All others are forms, which are not to change while
/// they are filled in. What a catalog holds changes with the status of its CatalogSource.
static LIVE: [(Page, &str, &[&Kind]); 7] = [
    (Page::Catalog, "catalog", &[&SUBSCRIPTIONS, &CATALOGS, &GLOBAL_CATALOGS]),
    (Page::Package, "package", &[&SUBSCRIPTIONS, &CSVS, &CATALOGS, &GLOBAL_CATALOGS]),
    (Page::Installed, "installed", &[&SUBSCRIPTIONS, &INSTALL_PLANS, &CSVS, &CATALOGS]),
    (
        Page::AllInstalled,
        "all-installed",
        &[&ALL_SUBSCRIPTIONS, &ALL_INSTALL_PLANS, &ALL_CSVS, &ALL_CATALOGS],
    ),
    (Page::Plan, "plan", &[&SUBSCRIPTIONS, &INSTALL_PLANS, &CSVS, &CATALOGS]),
    (
        Page::Health,
        "health",
        &[&SUBSCRIPTIONS, &INSTALL_PLANS, &CSVS, &CATALOGS, &DEPLOYMENTS, &GLOBAL_CATALOGS],
    ),
    (
        Page::Operator,
        "operator",
        &[&SUBSCRIPTIONS, &INSTALL_PLANS, &CSVS, &CATALOGS, &DEPLOYMENTS, &PODS, &EVENTS],
    ),
];

impl Kind {
    const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural, selector: None, place: WatchScope::Home }
    }

    const fn at(self, place: WatchScope) -> Self {
        Self { place, ..self }
    }

    /// How the API server is asked for it.
    pub(crate) fn resource(&self) -> ApiResource {
        let api_version = match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        };
        ApiResource {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            api_version,
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
        }
    }
}

/// What a page watches; nothing if it is not live.
pub(crate) fn of(page: Page) -> &'static [&'static Kind] {
    let found = LIVE.iter().find(|(live, _, _)| *live == page);
    found.map_or(&[], |(_, _, kinds)| kinds)
}

/// The name of a page that is live.
pub(crate) fn name_of(page: Page) -> Option<&'static str> {
    LIVE.iter().find(|(live, _, _)| *live == page).map(|(_, name, _)| *name)
}

/// The page of that name, if it is live.
pub(crate) fn named(wanted: &str) -> Option<Page> {
    LIVE.iter().find(|(_, name, _)| *name == wanted).map(|(page, _, _)| *page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_its_page_and_copies_are_left_out() {
        for (page, name, kinds) in LIVE {
            assert_eq!((named(name), name_of(page)), (Some(page), Some(name)));
            assert_eq!(of(page), kinds);
            let mut csvs = kinds.iter().filter(|kind| kind.plural == CSVS.plural);
            assert!(csvs.all(|csvs| csvs.selector == Some("!olm.copiedFrom")), "{name}");
        }
        assert!(of(Page::Operator).contains(&&CSVS) && of(Page::Operator).contains(&&PODS));
        assert_eq!(named("icon"), None);
        assert!(of(Page::Icon).is_empty());
    }

    #[test]
    fn the_core_group_has_no_name() {
        assert_eq!(EVENTS.resource().api_version, "v1");
        assert_eq!(SUBSCRIPTIONS.resource().api_version, "operators.coreos.com/v1alpha1");
    }
}
