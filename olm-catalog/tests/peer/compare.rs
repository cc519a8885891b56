//! Asks two servers the same questions and compares the answers.
//!
//! Questions come from the content of the catalog, and there are some about what is not there.
//! Where `opm` answers in the order of a Go map, answers are sorted first. A CSV that was made from
//! metadata is compared as JSON, without the zero values that Go writes for fields that are not
//! there; everything else byte by byte.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::SocketAddr;

use olm_catalog::registry::proto;
use serde_json::Value;

use super::ask::{Api, CallResult, RegistryClients};

/// Two servers, and how many answers were the same.
struct Pair {
    ours: RegistryClients,
    theirs: RegistryClients,
    compared: usize,
}

/// Asks both servers with every call; panics at the first difference.
pub async fn all(ours: SocketAddr, theirs: SocketAddr) -> usize {
    let (ours, theirs) =
        (RegistryClients::connect(ours).await, RegistryClients::connect(theirs).await);
    let mut pair = Pair { ours, theirs, compared: 0 };
    let bundles = pair.listings().await;
    pair.packages(&bundles).await;
    pair.bundles(&bundles).await;
    pair.replacements(&bundles).await;
    pair.providers(&bundles).await;
    pair.metas(&bundles).await;
    pair.compared
}

impl Pair {
    async fn listings(&mut self) -> Vec<proto::Bundle> {
        let mut theirs = self.theirs.packages().await;
        if let Ok(packages) = &mut theirs {
            packages.sort_by(|left, right| left.name.cmp(&right.name));
        }
        let ours = self.ours.packages().await;
        self.same("ListPackages", ours, theirs);
        let (ours, theirs) = (self.ours.bundles().await.unwrap(), self.theirs.bundles().await);
        let theirs = theirs.unwrap();
        self.same("ListBundles, count", Ok(ours.len()), Ok(theirs.len()));
        for (ours, theirs) in ours.iter().zip(theirs) {
            self.same_bundle("ListBundles", Ok(ours.clone()), Ok(theirs));
        }
        ours
    }

    async fn packages(&mut self, bundles: &[proto::Bundle]) {
        for name in names(bundles, |bundle| [bundle.package_name.as_str()]) {
            let (ours, theirs) =
                (self.ours.package(name[0]).await, self.theirs.package(name[0]).await);
            self.same(&format!("GetPackage {name:?}"), ours, theirs);
        }
    }

    async fn bundles(&mut self, bundles: &[proto::Bundle]) {
        let places = names(bundles, |bundle| {
            [&bundle.package_name, &bundle.channel_name, &bundle.csv_name].map(String::as_str)
        });
        for place in places {
            let (ours, theirs) = (self.ours.bundle(place).await, self.theirs.bundle(place).await);
            self.same_bundle(&format!("GetBundle {place:?}"), ours, theirs);
        }
        let channels = names(bundles, |bundle| {
            [&bundle.package_name, &bundle.channel_name].map(String::as_str)
        });
        for place in channels {
            let (ours, theirs) = (self.ours.head(place).await, self.theirs.head(place).await);
            self.same_bundle(&format!("GetBundleForChannel {place:?}"), ours, theirs);
        }
    }

    async fn replacements(&mut self, bundles: &[proto::Bundle]) {
        let mut older: BTreeSet<[&str; 3]> = names(bundles, |bundle| {
            [&bundle.package_name, &bundle.channel_name, &bundle.csv_name].map(String::as_str)
        });
        for bundle in bundles {
            older
                .extend(obsolete(bundle).map(|name| {
                    [bundle.package_name.as_str(), bundle.channel_name.as_str(), name]
                }));
        }
        for name in older.iter().map(|[_, _, name]| *name).collect::<BTreeSet<_>>() {
            let ours = sorted(self.ours.that_replace(name).await);
            let theirs = sorted(self.theirs.that_replace(name).await);
            self.same(&format!("GetChannelEntriesThatReplace {name:?}"), ours, theirs);
        }
        for place in older {
            // Of several that replace it, `opm` gives any.
            let [package, channel, name] = place;
            let newer = bundles.iter().filter(|bundle| {
                bundle.package_name == package
                    && bundle.channel_name == channel
                    && obsolete(bundle).any(|older| older == name)
            });
            if newer.count() > 1 {
                continue;
            }
            let ours = self.ours.replacement(place).await;
            let theirs = self.theirs.replacement(place).await;
            self.same_bundle(&format!("GetBundleThatReplaces {place:?}"), ours, theirs);
        }
    }

    async fn providers(&mut self, bundles: &[proto::Bundle]) {
        let provided = bundles.iter().flat_map(|bundle| &bundle.provided_apis);
        let mut apis: BTreeSet<Api> = provided
            .map(|api| (api.group.clone(), api.version.clone(), api.kind.clone()))
            .collect();
        apis.insert(("nope.example.org".into(), "v1".into(), "Nope".into()));
        apis.insert(Api::default());
        for api in &apis {
            let ours = sorted(self.ours.that_provide(api).await);
            let theirs = sorted(self.theirs.that_provide(api).await);
            self.same(&format!("GetChannelEntriesThatProvide {api:?}"), ours, theirs);
            let ours = sorted(self.ours.heads_that_provide(api).await);
            let theirs = sorted(self.theirs.heads_that_provide(api).await);
            self.same(&format!("GetLatestChannelEntriesThatProvide {api:?}"), ours, theirs);
            let ours = self.ours.default_provider(api).await;
            let theirs = self.theirs.default_provider(api).await;
            self.same_bundle(&format!("GetDefaultBundleThatProvides {api:?}"), ours, theirs);
        }
    }

    async fn metas(&mut self, bundles: &[proto::Bundle]) {
        let packages = names(bundles, |bundle| [bundle.package_name.as_str()]);
        let packages = packages.iter().map(|[name]| *name).chain([""]).collect::<BTreeSet<_>>();
        for package in packages {
            for schema in ["custom.example.org", "custom.operator.io", "nope"] {
                let ours = self.ours.metas(schema, package, true).await;
                let theirs = self.theirs.metas(schema, package, true).await;
                let what = format!("ExperimentalListPackageCustomSchemas {schema} {package}");
                self.same(&what, by_text(ours), by_text(theirs));
            }
        }
        for (schema, package) in [("", ""), ("../x", ""), ("x", "a/b")] {
            let ours = self.ours.metas(schema, package, true).await;
            let theirs = self.theirs.metas(schema, package, true).await;
            self.same(&format!("custom schemas {schema:?} {package:?}"), ours, theirs);
        }
        let ours = self.ours.metas("custom.example.org", "", false).await;
        let theirs = self.theirs.metas("custom.example.org", "", false).await;
        self.same("custom schemas, not acknowledged", ours, theirs);
    }

    fn same<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        ours: CallResult<T>,
        theirs: CallResult<T>,
    ) {
        assert!(ours == theirs, "{what}\n ours:   {ours:#?}\n theirs: {theirs:#?}");
        self.compared += 1;
    }

    fn same_bundle(
        &mut self,
        what: &str,
        ours: CallResult<proto::Bundle>,
        theirs: CallResult<proto::Bundle>,
    ) {
        let csvs = |answer: &CallResult<proto::Bundle>| {
            let bundle = answer.as_ref().ok()?;
            Some((bundle.csv_json.clone(), bundle.object.clone()))
        };
        if csvs(&ours) == csvs(&theirs) {
            return self.same(what, ours, theirs);
        }
        self.same(what, with_plain_csv(ours), with_plain_csv(theirs));
    }
}

/// What occurs in the catalog, and for each part something that does not.
fn names<'a, const N: usize>(
    bundles: &'a [proto::Bundle],
    of: impl Fn(&'a proto::Bundle) -> [&'a str; N],
) -> BTreeSet<[&'a str; N]> {
    let mut all: BTreeSet<[&str; N]> = bundles.iter().map(of).collect();
    let first = all.iter().next().copied().unwrap_or([""; N]);
    for part in 0..N {
        for wrong in ["", "nope"] {
            let mut place = first;
            place[part] = wrong;
            all.insert(place);
        }
    }
    all
}

/// Names of what a bundle replaces and skips.
fn obsolete(bundle: &proto::Bundle) -> impl Iterator<Item = &str> {
    std::iter::once(&bundle.replaces).chain(&bundle.skips).map(String::as_str)
}

fn sorted(answer: CallResult<Vec<proto::ChannelEntry>>) -> CallResult<Vec<proto::ChannelEntry>> {
    answer.map(|mut rows| {
        let key = |row: &proto::ChannelEntry| format!("{row:?}");
        rows.sort_by_key(key);
        rows
    })
}

fn by_text<T: Debug>(answer: CallResult<Vec<T>>) -> CallResult<Vec<String>> {
    answer.map(|rows| {
        let mut texts: Vec<_> = rows.iter().map(|row| format!("{row:?}")).collect();
        texts.sort();
        texts
    })
}

/// The bundle with its CSV and objects as JSON without zero values.
fn with_plain_csv(answer: CallResult<proto::Bundle>) -> CallResult<proto::Bundle> {
    answer.map(|mut bundle| {
        bundle.csv_json = plain(&bundle.csv_json);
        bundle.object = bundle.object.iter().map(|object| plain(object)).collect();
        bundle
    })
}

fn plain(json: &str) -> String {
    let value = serde_json::from_str(json).map_or(Value::Null, without_zeros);
    format!("{value:#}")
}

pub fn without_zeros(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, without_zeros(value)));
            Value::Object(fields.filter(|(_, value)| !is_zero(value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_zeros).collect()),
        other => other,
    }
}

/// Whether Go may leave the value out, or write it for a field that is not there.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
