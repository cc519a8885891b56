//! What is measured: real catalogs, committed cases and made-up catalogs.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use olm_resolver::cases::Case;
use serde::Deserialize;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A problem with a name.
pub struct Instance {
    pub name: String,
    pub case: Case,
    /// How often the reference is run; large problems take it seconds.
    pub reference_runs: usize,
}

/// Both real catalogs with 1, 10 and 30 Subscriptions; nothing without `OLM_CORPUS`.
pub fn corpus() -> Result<Vec<Instance>> {
    let Some(folder) = std::env::var_os("OLM_CORPUS").map(PathBuf::from) else {
        println!("not run: real catalogs (set OLM_CORPUS to a folder with catalogs)");
        return Ok(Vec::new());
    };
    let mut catalogs = Vec::new();
    for path in sorted(&folder)?.into_iter().filter(|path| path.is_dir()) {
        let mut blobs = Vec::new();
        read_blobs(&path, &mut blobs)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace('.', "-");
        catalogs.push(json!({"name": name, "namespace": "olm", "fbc": blobs}));
    }
    let packages = first_packages(&catalogs);
    [1, 10, 30].into_iter().map(|count| with_subscriptions(count, &catalogs, &packages)).collect()
}

/// Packages with their catalog, from each catalog in turn.
fn first_packages(catalogs: &[Value]) -> Vec<(String, String)> {
    let of = |catalog: &Value| -> Vec<(String, String)> {
        let blobs = catalog["fbc"].as_array().into_iter().flatten();
        let packages = blobs.filter(|blob| blob["schema"] == "olm.package");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        packages.map(|package| (text(&package["name"]), text(&catalog["name"]))).collect()
    };
    let lists: Vec<_> = catalogs.iter().map(of).collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}

fn with_subscriptions(
    count: usize,
    catalogs: &[Value],
    packages: &[(String, String)],
) -> Result<Instance> {
    let subscriptions = packages.iter().take(count).map(|(package, catalog)| {
        json!({"name": package, "package": package, "catalog": catalog, "catalogNamespace": "olm"})
    });
    let subscriptions: Vec<Value> = subscriptions.collect();
    let name = format!("real catalogs, {count} Subscriptions");
    Ok(Instance {
        case: case(&name, json!(catalogs), json!(subscriptions))?,
        name,
        reference_runs: 3,
    })
}

fn read_blobs(folder: &Path, blobs: &mut Vec<Value>) -> Result<()> {
    for path in sorted(folder)? {
        if path.is_dir() {
            read_blobs(&path, blobs)?;
            continue;
        }
        let text = fs::read(&path)?;
        let is_json = path.extension() == Some(OsStr::new("json"));
        let documents: Vec<Value> = if is_json {
            serde_json::Deserializer::from_slice(&text)
                .into_iter()
                .collect::<std::result::Result<_, _>>()?
        } else {
            yaml_serde::Deserializer::from_slice(&text)
                .map(Value::deserialize)
                .collect::<std::result::Result<_, _>>()?
        };
        blobs.extend(documents.into_iter().map(without_manifests));
    }
    Ok(())
}

/// A registry does not send these either when it lists bundles.
fn without_manifests(mut blob: Value) -> Value {
    if let Some(Value::Array(properties)) = blob.get_mut("properties") {
        properties.retain(|property| {
            property["type"] != "olm.bundle.object" && property["type"] != "olm.csv.metadata"
        });
    }
    blob
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.is_dir() || path.extension().is_some_and(|e| e == "json" || e == "yaml")
    });
    paths.sort();
    Ok(paths)
}

/// The committed large cases.
pub fn large_cases() -> Result<Vec<Instance>> {
    let cases = committed("perf.jsonl.gz")?.into_iter();
    Ok(cases.map(|case| Instance { name: case.name.clone(), case, reference_runs: 1 }).collect())
}

/// The committed named cases.
pub fn named_cases() -> Result<Vec<Case>> {
    committed("named.jsonl")
}

fn committed(name: &str) -> Result<Vec<Case>> {
    let path = Path::new("tests/data").join(name);
    let file = File::open(path)?;
    let reader: Box<dyn Read> =
        if name.ends_with(".gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(reader).lines().map(|line| Ok(Case::parse(&line?)?)).collect()
}

/// Catalogs of 1,000 and 10,000 bundles: chains of packages, each needing the next.
pub fn synthetic() -> Result<Vec<Instance>> {
    Ok(vec![chains("1,000 bundles", 10, 20, true)?, chains("10,000 bundles", 100, 20, true)?])
}

/// Chains whose last packages need an API that no bundle provides.
pub fn unsatisfiable() -> Result<Instance> {
    chains("1,000 bundles, unsatisfiable", 10, 20, false)
}

/// `count` chains of `depth` packages with five versions each, and a Subscription per chain up to
/// ten. Every version needs the API of the next package in the chain and of one in a neighbour.
fn chains(name: &str, count: usize, depth: usize, satisfiable: bool) -> Result<Instance> {
    let mut blobs = Vec::new();
    for chain in 0..count {
        for level in 0..depth {
            let package = format!("p-{chain}-{level}");
            let mut needs = Vec::new();
            if level + 1 < depth {
                needs.push((chain, level + 1));
                needs.push(((chain + 1) % count, (level + 3).min(depth - 1)));
            } else if !satisfiable && chain == 0 {
                needs.push((count, 0));
            }
            add_package(&package, (chain, level), &needs, &mut blobs);
        }
    }
    let subscriptions = (0..count.min(10)).map(|chain| {
        let package = format!("p-{chain}-0");
        json!({"name": package, "package": package, "channel": "stable", "catalog": "made", "catalogNamespace": "olm"})
    });
    let catalogs = json!([{"name": "made", "namespace": "olm", "fbc": blobs}]);
    let case = case(name, catalogs, json!(subscriptions.collect::<Vec<_>>()))?;
    Ok(Instance { name: name.to_owned(), case, reference_runs: 1 })
}

fn add_package(
    package: &str,
    place: (usize, usize),
    needs: &[(usize, usize)],
    blobs: &mut Vec<Value>,
) {
    let api = |(chain, level): (usize, usize)| json!({"group": format!("g{chain}.example.com"), "version": "v1", "kind": format!("K{level}")});
    let name = |version: usize| format!("{package}.v{version}");
    let entries: Vec<Value> = (1..=5)
        .map(|version| match version {
            1 => json!({"name": name(1)}),
            _ => json!({"name": name(version), "replaces": name(version - 1)}),
        })
        .collect();
    blobs.push(json!({"schema": "olm.package", "name": package, "defaultChannel": "stable"}));
    blobs.push(
        json!({"schema": "olm.channel", "package": package, "name": "stable", "entries": entries}),
    );
    for version in 1..=5 {
        let own = json!({"packageName": package, "version": format!("{version}.0.0")});
        let mut properties = vec![
            json!({"type": "olm.package", "value": own}),
            json!({"type": "olm.gvk", "value": api(place)}),
        ];
        let needs =
            needs.iter().map(|need| json!({"type": "olm.gvk.required", "value": api(*need)}));
        properties.extend(needs);
        blobs.push(json!({"schema": "olm.bundle", "package": package, "name": name(version),
            "image": "registry.example.com/made:1", "properties": properties}));
    }
}

/// A rule of about 400 bytes that would run for minutes.
pub fn hostile_rule() -> Result<Instance> {
    let list = "[0,1,2,3,4,5,6,7,8,9]";
    let rule =
        (0..13).fold("true".to_owned(), |inner, level| format!("{list}.all(x{level}, {inner})"));
    let name = format!("hostile CEL rule of {} bytes", rule.len());
    let properties = json!([{"type": "olm.constraint", "value": {"cel": {"rule": rule}}}]);
    let fbc = json!([
        {"schema": "olm.package", "name": "p", "defaultChannel": "a"},
        {"schema": "olm.channel", "package": "p", "name": "a", "entries": [{"name": "p.v1"}]},
        {"schema": "olm.bundle", "package": "p", "name": "p.v1", "properties": properties},
    ]);
    let subscriptions =
        json!([{"name": "s", "package": "p", "catalog": "k", "catalogNamespace": "olm"}]);
    let case = case(&name, json!([{"name": "k", "namespace": "olm", "fbc": fbc}]), subscriptions)?;
    Ok(Instance { name, case, reference_runs: 0 })
}

fn case(name: &str, catalogs: Value, subscriptions: Value) -> Result<Case> {
    let line = json!({"name": name, "namespace": "olm", "catalogs": catalogs, "subscriptions": subscriptions});
    Ok(Case::parse(&line.to_string())?)
}
