//! Catalogs made to do harm: refused in little time and memory, with a message that names the blob.
//!
//! The program runs with a bounded address space, so a catalog that needs more ends it.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::built;

/// Most address space of a program, in KiB. An idle one needs about a third of it.
const SPACE: u32 = 800 << 10;

/// Far more than it takes, on a machine with other things to do.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What `olm-registry validate` complains about.
fn refused(catalog: &Path) -> String {
    let started = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {SPACE}; exec \"$@\""), "sh"])
        .arg(built("olm-registry"))
        .arg("validate")
        .arg(catalog)
        .output()
        .unwrap();
    assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.len() < 100_000, "{} bytes", said.len());
    said
}

fn refused_file(name: &str, content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    refused(folder.path())
}

/// A package with one channel of these entries.
fn channel(entries: &[String]) -> Vec<u8> {
    format!(
        "{{\"schema\":\"olm.package\",\"name\":\"p\",\"defaultChannel\":\"c\"}}\n\
         {{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{}]}}\n",
        entries.join(",")
    )
    .into_bytes()
}

#[test]
fn a_field_of_a_gigabyte() {
    for (name, start) in [
        ("huge.json", "{\"schema\": \"olm.package\", \"name\": \""),
        ("huge.yaml", "schema: olm.package\nname: '"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut file = File::create(folder.path().join(name)).unwrap();
        file.write_all(start.as_bytes()).unwrap();
        // The rest reads as zeros and takes no place on the disk.
        file.set_len(1 << 30).unwrap();
        let said = refused(folder.path());
        let expected = format!("{name}, document 1: a document is larger than 67108864 bytes");
        assert!(said.contains(&expected), "{said}");
    }
}

/// A megabyte that would be 30 GB. The scalars keep the rule content by which v0 counts values.
#[test]
fn a_hundred_thousand_aliases_of_a_long_text() {
    let text = format!(
        "schema: x\ntext: &a {}\nothers: [{}]\ncopies: [{}]\n",
        "x".repeat(300_000),
        vec!["0"; 150_000].join(","),
        vec!["*a"; 100_000].join(",")
    );
    let said = refused_file("aliases.yaml", text.as_bytes());
    assert!(said.contains("aliases.yaml, document 1: the values take more than"), "{said}");
}

/// 64 MiB of maps that would be 6 GB.
#[test]
fn millions_of_small_maps() {
    let text = format!("{{\"schema\":\"x\",\"maps\":[{}]}}", vec!["{\"\":0}"; 8_000_000].join(","));
    let said = refused_file("maps.json", text.as_bytes());
    assert!(said.contains("maps.json, document 1: the values take more than"), "{said}");
}

#[test]
fn channels_of_a_hundred_thousand_entries() {
    let entry = |number: usize, replaces: usize| {
        format!("{{\"name\":\"b{number}\",\"replaces\":\"b{replaces}\"}}")
    };
    let count = 100_000;
    let cycle: Vec<_> = (0..count).map(|number| entry(number, (number + 1) % count)).collect();
    let said = refused_file("cycle.json", &channel(&cycle));
    assert!(said.contains("no channel head found in graph (cycle.json, document 2)"), "{said}");
    let behind: Vec<_> = (0..count).map(|number| entry(number, (number + 1).min(5))).collect();
    let said = refused_file("heads.json", &channel(&behind));
    assert!(said.contains("multiple channel heads found in graph: b0, b10, "), "{said}");
    assert!(said.contains(" more (heads.json, document 2)"), "{said}");
    let twice = vec!["{\"name\":\"b\"}".to_owned(); count];
    let said = refused_file("twice.json", &channel(&twice));
    assert!(said.contains("duplicate entry \"b\" (twice.json, document 2)"), "{said}");
}

/// Graphs that are wrong in a small way.
#[rstest::rstest]
#[case::self_replaces(&[("a", "a")], "no channel head found in graph")]
#[case::self_replaces_behind_the_head(
    &[("a", "b"), ("b", "b")],
    "detected cycle in replaces chain of upgrade graph: b -> b"
)]
#[case::cycle(&[("a", "b"), ("b", "a")], "no channel head found in graph")]
#[case::cycle_behind_the_head(
    &[("a", "b"), ("b", "c"), ("c", "b")],
    "detected cycle in replaces chain of upgrade graph: b -> c -> b"
)]
#[case::two_heads(&[("a", "c"), ("b", "c"), ("c", "")], "multiple channel heads found in graph: a, b")]
#[case::same_entry_twice(&[("a", ""), ("a", "")], "duplicate entry \"a\"")]
fn wrong_graphs(#[case] entries: &[(&str, &str)], #[case] message: &str) {
    let entry = |(name, replaces): &(&str, &str)| {
        format!("{{\"name\":\"{name}\",\"replaces\":\"{replaces}\"}}")
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    let said = refused_file("graph.json", &channel(&entries));
    assert!(said.contains(&format!("{message} (graph.json, document 2)")), "{said}");
}

#[rstest::rstest]
#[case::package("schema: olm.package\nname: p\n", "duplicate package \"p\"")]
#[case::channel(
    "schema: olm.channel\npackage: p\nname: c\n",
    "package \"p\" has duplicate channel \"c\""
)]
#[case::bundle(
    "schema: olm.bundle\npackage: p\nname: b\n",
    "package \"p\" has duplicate bundle \"b\""
)]
fn duplicate_names(#[case] blob: &str, #[case] message: &str) {
    let package = "---\nschema: olm.package\nname: p\n".to_owned();
    let text = format!("{package}---\n{blob}---\n{blob}");
    let text = if blob.contains("olm.package") { text.replacen(&package, "", 1) } else { text };
    let said = refused_file("twice.yaml", text.as_bytes());
    assert!(said.contains(&format!("{message} (twice.yaml, document ")), "{said}");
}

/// Files come and go while the catalog is read, again and again: every verdict is about one state,
/// or says that there was none.
#[test]
fn a_folder_that_changes_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let filler = "schema: a.b\ntext: xxxxxxxxxxxxxxxxxxxxxxxxxxxx\n---\n".repeat(5000);
    fs::write(folder.path().join("a.yaml"), &filler).unwrap();
    let changing = folder.path().join("b.yaml");
    let done = std::sync::atomic::AtomicBool::new(false);
    let changed = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(&changing, "schema: a.b\n").unwrap();
                fs::remove_file(&changing).unwrap();
            }
        });
        let changed = (0..20).any(|_| {
            let output = Command::new(built("olm-registry"))
                .arg("validate")
                .arg(folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let named = said.contains("changed while it was read") || said.contains("b.yaml: ");
            assert!(output.status.success() || named, "{said}");
            !output.status.success()
        });
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        changed
    });
    assert!(changed, "no run of twenty saw a change");
}

#[test]
fn deep_documents_and_alias_bombs() {
    let deep = format!("{{\"schema\":\"x\",\"a\":{}", "[".repeat(1_000_000));
    assert!(refused_file("deep.json", deep.as_bytes()).contains("deep.json, document 1: "));
    let deep = format!("schema: x\na: {}", "{a: ".repeat(100_000));
    assert!(refused_file("deep.yaml", deep.as_bytes()).contains("deep.yaml, document 1: "));
    let deep: String = (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(refused_file("indent.yaml", deep.as_bytes()).contains("indent.yaml, document 1: "));
    let mut bomb = "schema: x\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", ")));
    }
    assert!(refused_file("bomb.yaml", bomb.as_bytes()).contains("bomb.yaml, document 1: "));
}

#[test]
fn invalid_utf_8() {
    for (name, content) in [
        ("a.json", b"{\"schema\": \"\xff\xfe\"}".as_slice()),
        ("a.yaml", b"schema: \"\xff\xfe\"".as_slice()),
    ] {
        let said = refused_file(name, content);
        assert!(said.contains(&format!("{name}, document 1: ")), "{said}");
    }
}

#[test]
fn a_hundred_thousand_broken_documents() {
    let said = refused_file("broken.yaml", "{schema: 1}\n---\n".repeat(100_000).as_bytes());
    assert_eq!(said.lines().count(), 100, "errors are bounded");
}
