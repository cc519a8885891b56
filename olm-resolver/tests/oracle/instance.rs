//! Random small problems, in a form that both the resolver and the reference read.

use proptest::prelude::*;

/// Catalogs with the package that each place is about. Packages are in one or two catalogs.
const PLACES: [(&str, &str); 4] = [("a", "one"), ("b", "one"), ("c", "one"), ("a", "two")];

/// A bundle of a catalog.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub name: String,
    pub package: &'static str,
    pub catalog: &'static str,
    /// Version: this number, `.0.0`.
    pub version: usize,
    /// Name of the bundle below it in its channel.
    pub replaces: Option<String>,
    /// Whether the one below is skipped instead.
    pub skips: bool,
    pub deprecated: bool,
    pub provides: Vec<u8>,
    pub requires: Vec<Need>,
}

#[derive(Clone, Debug)]
pub enum Need {
    Api(u8),
    /// A package from a version on.
    Package(&'static str, usize),
}

/// A Subscription of a package, in one catalog or in any.
#[derive(Clone, Debug)]
pub struct Subscription {
    pub name: String,
    pub package: &'static str,
    pub catalog: Option<&'static str>,
    /// Position of the bundle that it has installed.
    pub installed: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub bundles: Vec<Bundle>,
    pub subscriptions: Vec<Subscription>,
    /// APIs that a CSV without a Subscription provides, and one that it requires.
    pub orphan: Option<(Vec<u8>, Option<u8>)>,
}

fn api() -> impl Strategy<Value = u8> {
    1..5_u8
}

fn need() -> impl Strategy<Value = Need> {
    let package = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        2 => api().prop_map(Need::Api),
        1 => (package, 1..3_usize).prop_map(|(name, from)| Need::Package(name, from)),
    ]
}

fn bundle(place: usize, version: usize) -> impl Strategy<Value = Bundle> {
    let (package, catalog) = PLACES[place];
    let name = move |version: usize| format!("{package}-{catalog}.v{version}");
    (
        prop::collection::vec(api(), 0..2),
        prop::collection::vec(need(), 0..3),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.08),
    )
        .prop_map(move |(provides, requires, skips, deprecated)| Bundle {
            name: name(version),
            package,
            catalog,
            version,
            replaces: (version > 1).then(|| name(version - 1)),
            skips: skips && version > 1,
            deprecated,
            provides,
            requires,
        })
}

/// A channel of one or two bundles per place, or none.
fn bundles() -> impl Strategy<Value = Vec<Bundle>> {
    let place = |place: usize| {
        (0..3_usize).prop_flat_map(move |length| {
            (1..=length).map(|version| bundle(place, version)).collect::<Vec<_>>()
        })
    };
    (place(0), place(1), place(2), place(3))
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat())
        .prop_filter("there is something to choose from", |all| !all.is_empty())
}

/// A Subscription of the package of some bundle.
fn subscription(count: usize) -> impl Strategy<Value = (usize, bool, bool)> {
    (0..count, prop::bool::weighted(0.3), prop::bool::weighted(0.35))
}

pub fn instance() -> impl Strategy<Value = Instance> {
    bundles().prop_flat_map(|bundles| {
        let orphan = prop::option::weighted(
            0.3,
            (prop::collection::vec(api(), 0..2), prop::option::weighted(0.3, api())),
        );
        let subscriptions = prop::collection::vec(subscription(bundles.len()), 1..4);
        (Just(bundles), subscriptions, orphan).prop_map(|(bundles, subscriptions, orphan)| {
            let subscriptions = read_subscriptions(&bundles, &subscriptions);
            Instance { bundles, subscriptions, orphan }
        })
    })
}

/// At most one Subscription per package has something installed: two of one package never would.
fn read_subscriptions(bundles: &[Bundle], drawn: &[(usize, bool, bool)]) -> Vec<Subscription> {
    let mut subscriptions: Vec<Subscription> = Vec::new();
    for (number, (position, anywhere, installed)) in drawn.iter().enumerate() {
        let bundle = &bundles[*position];
        let is_new = subscriptions.iter().all(|other| other.package != bundle.package);
        subscriptions.push(Subscription {
            name: format!("s{number}"),
            package: bundle.package,
            catalog: (!anywhere).then_some(bundle.catalog),
            installed: (*installed && is_new).then_some(*position),
        });
    }
    subscriptions
}

impl Instance {
    /// The instance in the language of the tests.
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for bundle in &self.bundles {
            lines.push(format!("catalog olm/{}", bundle.catalog));
            lines.push(line(bundle));
        }
        for subscription in &self.subscriptions {
            let catalog =
                subscription.catalog.map_or("any".to_owned(), |name| format!("olm/{name}"));
            let mut line =
                format!("sub {} {}/stable in:{catalog}", subscription.name, subscription.package);
            if let Some(bundle) = subscription.installed.map(|position| &self.bundles[position]) {
                line += &format!(" is:{}", bundle.name);
                lines.push(csv(bundle));
            }
            lines.push(line);
        }
        if let Some((provides, requires)) = &self.orphan {
            let apis = provides.iter().map(|api| format!(" +{api}"));
            let needs = requires.iter().map(|api| format!(" ?{api}"));
            lines.push(format!("csv orphan{}", apis.chain(needs).collect::<String>()));
        }
        lines.join("\n")
    }
}

fn line(bundle: &Bundle) -> String {
    let Bundle { name, version, package, .. } = bundle;
    let mut line = format!("{name}@{version}.0.0 {package}/stable*");
    if let Some(below) = &bundle.replaces {
        line += &format!(" {}{below}", if bundle.skips { "~" } else { "->" });
    }
    if bundle.deprecated {
        line += " deprecated";
    }
    line + &properties(bundle)
}

fn csv(bundle: &Bundle) -> String {
    let Bundle { name, version, package, .. } = bundle;
    format!("csv {name}@{version}.0.0 of:{package}{}", properties(bundle))
}

fn properties(bundle: &Bundle) -> String {
    let mut text = String::new();
    bundle.provides.iter().for_each(|api| text += &format!(" +{api}"));
    for need in &bundle.requires {
        text += &match need {
            Need::Api(api) => format!(" ?{api}"),
            Need::Package(name, from) => format!(" needs:{name}:>={from}.0.0"),
        };
    }
    text
}
