//! The binary `olm-registry` (feature `server`).

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use olm_testkit::not_run::not_run;

use crate::support::built;

fn registry(arguments: &[&str]) -> Command {
    let mut command = Command::new(built("olm-registry"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn etcd() -> String {
    "tests/catalogs/etcd".to_owned()
}

/// Starts a server on a free port; gives the line it prints once it listens.
fn start() -> (Child, String) {
    let mut child =
        registry(&["serve", &etcd(), "-p", "0", "--address", "127.0.0.1"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

#[test]
fn prints_where_it_listens_and_ends_on_a_signal() {
    for signal in ["TERM", "INT"] {
        let (mut child, line) = start();
        assert!(line.contains("(1 packages, 8 channel entries) on 127.0.0.1:"), "{line}");
        let port = line.trim_end().rsplit(':').next().unwrap();
        assert_ne!(port.parse::<u16>().unwrap(), 0);
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert!(child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn a_bad_catalog_is_refused_with_everything_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{schema: olm.package, name: foo}\n---\n{schema: olm.package, name: foo.bar}\n";
    std::fs::write(folder.path().join("catalog.yaml"), format!("---\n{text}")).unwrap();
    let output = registry(&["serve", folder.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    insta::assert_snapshot!("bad_catalog", message);
}

#[test]
fn a_missing_folder_is_named() {
    let output = registry(&["serve", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("Error: read /no/such/folder: "), "{message}");
}

/// A folder with the catalog `etcd` that may be changed.
fn own_catalog() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("configs")).unwrap();
    std::fs::copy(
        Path::new(&etcd()).join("catalog.yaml"),
        folder.path().join("configs/catalog.yaml"),
    )
    .unwrap();
    folder
}

/// Runs `serve` with an index in a folder and the flags, to its end; gives what it complains about.
fn cache_only(folder: &Path, flags: &[&str]) -> Result<String, String> {
    let (configs, cache) = (folder.join("configs"), folder.join("cache"));
    let mut arguments = vec!["serve", configs.to_str().unwrap(), "--cache-only"];
    arguments.extend(["--cache-dir", cache.to_str().unwrap()]);
    arguments.extend(flags);
    let output = registry(&arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if output.status.success() { Ok(said) } else { Err(said) }
}

#[test]
fn an_index_is_made_once_and_used_while_it_is_right() {
    let folder = own_catalog();
    let index = folder.path().join("cache/olm-registry.index");
    assert!(cache_only(folder.path(), &[]).unwrap().contains("the index is made anew"));
    let made = std::fs::read(&index).unwrap();
    assert_eq!(cache_only(folder.path(), &[]).unwrap(), "", "an intact index is used");
    let mut damaged = made.clone();
    damaged[100] ^= 1;
    std::fs::write(&index, &damaged).unwrap();
    let said = cache_only(folder.path(), &[]).unwrap();
    assert!(said.contains("the index is damaged: its digest is another"), "{said}");
    assert_eq!(std::fs::read(&index).unwrap(), made, "the same catalog gives the same index");
}

#[test]
fn an_index_must_be_right_when_integrity_is_enforced() {
    let folder = own_catalog();
    let enforce = ["--cache-enforce-integrity"];
    let said = cache_only(folder.path(), &enforce).unwrap_err();
    assert!(said.contains("integrity check failed: read existing cache digest: open "), "{said}");
    cache_only(folder.path(), &[]).unwrap();
    assert_eq!(cache_only(folder.path(), &enforce), Ok(String::new()));
    std::fs::write(folder.path().join("configs/more.yaml"), "schema: a.b").unwrap();
    let said = cache_only(folder.path(), &enforce).unwrap_err();
    assert!(said.contains("cache requires rebuild: cache reports digest as \""), "{said}");
    assert!(cache_only(folder.path(), &["--cache-enforce-integrity=false"]).is_ok());
    assert_eq!(cache_only(folder.path(), &enforce), Ok(String::new()));
}

#[test]
fn a_cache_of_opm_is_left_alone() {
    let folder = own_catalog();
    std::fs::create_dir_all(folder.path().join("cache/pogreb.v1/db")).unwrap();
    let said = cache_only(folder.path(), &["--cache-enforce-integrity"]).unwrap();
    assert!(said.contains("the cache was made by opm and is not used"), "{said}");
    assert!(!folder.path().join("cache/olm-registry.index").exists());
}

/// The registry where no file can grow beyond so many blocks of 512 bytes: a disk that gets full.
fn on_a_full_disk(blocks: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    // An ignored signal stays ignored: writes fail, as on a full disk, instead of ending the process.
    let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    command.args(["-c", &limited, "sh"]).arg(built("olm-registry")).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing_half_written() {
    let folder = own_catalog();
    let (configs, cache) = (folder.path().join("configs"), folder.path().join("cache"));
    let arguments = ["serve", configs.to_str().unwrap(), "--cache-only", "--cache-dir"];
    let arguments = [&arguments[..], &[cache.to_str().unwrap()]].concat();
    let output = on_a_full_disk(8, &arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let cause = format!("make the index in {}: keep the content of the catalog: ", cache.display());
    assert!(said.contains(&cause), "{said}");
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0, "nothing is left");
    assert!(cache_only(folder.path(), &[]).unwrap().contains("the index is made anew"));
    assert_eq!(cache_only(folder.path(), &["--cache-enforce-integrity"]), Ok(String::new()));
}

/// The registry with its cache on a file system of one page, in a mount namespace of its own. It lists
/// what is left there at last.
const ON_A_FULL_FILE_SYSTEM: &str =
    "mount -t tmpfs -o size=4k tmpfs \"$0\" || exit 99; \"$@\"; code=$?; ls -A \"$0\"; exit $code";

#[test]
fn a_file_system_that_is_full_is_reported_and_nothing_is_left_on_it() {
    let folder = own_catalog();
    let (configs, cache) = (folder.path().join("configs"), folder.path().join("cache"));
    std::fs::create_dir(&cache).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", ON_A_FULL_FILE_SYSTEM])
        .arg(&cache)
        .arg(built("olm-registry"))
        .args(["serve", "--cache-only", "--cache-dir"])
        .args([&cache, &configs])
        .output();
    let output = match output {
        Ok(output) if !matches!(output.status.code(), Some(99)) => output,
        other => return not_run(format!("no file system can be mounted here: {other:?}")),
    };
    let said = String::from_utf8(output.stderr).unwrap();
    if said.starts_with("unshare:") {
        return not_run(format!("there are no mount namespaces here: {said}"));
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "nothing is left");
}

#[test]
fn where_the_disk_is_full_a_catalog_is_served_from_memory() {
    let arguments = ["serve", &etcd(), "-p", "0", "--address", "127.0.0.1"];
    let mut child = on_a_full_disk(8, &arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("(1 packages, 8 channel entries)"), "{line}");
    let sent = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("the index is kept in memory"), "{said}");
}

/// Every flag of `opm serve` (operator-registry v1.73), each with a value.
#[test]
fn every_flag_of_opm_serve_is_taken() {
    let flags = [
        "--debug=true",
        "--termination-log=termination",
        "--port=0",
        "--pprof-addr=localhost:6060",
        "--pprof-capture-profiles=true",
        "--skip-tls=true",
        "--skip-tls-verify=true",
        "--use-http=true",
    ];
    for flag in flags {
        let folder = own_catalog();
        let said = cache_only(folder.path(), &[flag]).unwrap();
        let idle = flag.starts_with("--pprof-capture-profiles");
        assert_eq!(said.contains("has no effect"), idle, "{flag}: {said}");
    }
}

#[test]
fn flags_of_opm_are_taken() {
    let folder = own_catalog();
    let log = folder.path().join("termination");
    let flags = ["--debug", "--pprof-addr", "", "--pprof-capture-profiles=false", "--use-http"];
    assert!(cache_only(folder.path(), &flags).is_ok());
    let output = registry(&["serve", &etcd(), "--cache-enforce-integrity", "-t"])
        .arg(&log)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        std::fs::read_to_string(&log).unwrap(),
        "--cache-dir must be specified with --cache-enforce-integrity\n"
    );
}

/// What a command prints.
fn printed(arguments: &[&str]) -> String {
    let output = registry(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn validate_says_nothing_about_a_valid_catalog() {
    assert_eq!(printed(&["validate", &etcd()]), "");
    let output = registry(&["validate", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn validate_reports_its_verdict_to_programs() {
    assert_eq!(printed(&["validate", &etcd(), "-o", "json"]), "{\n  \"passed\": true\n}\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), "schema: olm.package").unwrap();
    let folder = folder.path().to_str().unwrap();
    let output = registry(&["validate", folder, "-o", "yaml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("passed: false\n"), "{said}");
    assert!(said.contains("config contains package with no name (a.yaml, document 1)"), "{said}");
    let file = format!("{folder}/a.yaml");
    let output = registry(&["validate", &file]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("Error: {file:?} is not a directory\n"));
}

#[test]
fn a_bundle_is_rendered_among_catalogs() {
    let bundle = "tests/bundles/foo";
    let template = "quay.io/{{.Package}}/{{.Name}}:v{{.Version}}";
    let names = |flags: &[&str]| {
        let catalog = etcd();
        let rendered = printed(&[&["render", bundle, &catalog], flags].concat());
        let blobs = serde_json::Deserializer::from_str(&rendered).into_iter::<serde_json::Value>();
        let of_foo = blobs.map(Result::unwrap).find(|blob| blob["package"] == "foo").unwrap();
        let properties = of_foo["properties"].as_array().unwrap().clone();
        let types: Vec<_> = properties.iter().map(|it| it["type"].to_string()).collect();
        (of_foo["image"].as_str().unwrap().to_owned(), types.last().unwrap().clone())
    };
    assert_eq!(names(&[]), (String::new(), "\"olm.bundle.object\"".to_owned()));
    let flags = ["--alpha-image-ref-template", template];
    assert_eq!(names(&flags).0, "quay.io/foo/foo.v1.2.3:v1.2.3");
    for migrate in ["--migrate", "--migrate-level=bundle-object-to-csv-metadata"] {
        let flags = [flags[0], flags[1], migrate];
        assert_eq!(names(&flags).1, "\"olm.csv.metadata\"", "{migrate}");
    }
    assert_eq!(names(&["--migrate"]).1, "\"olm.bundle.object\"", "there is no image to pull");
    let both = ["render", bundle, "--migrate", "--migrate-level", "none"];
    assert!(!registry(&both).output().unwrap().status.success());
}

#[test]
fn what_cannot_be_rendered_is_named() {
    let output = registry(&["render", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("Error: render reference \"/no/such/folder\": "), "{said}");
}

#[test]
fn list_prints_tables() {
    insta::assert_snapshot!("list_packages", printed(&["list", "packages", &etcd()]));
    insta::assert_snapshot!("list_channels", printed(&["list", "channels", &etcd()]));
    insta::assert_snapshot!("list_bundles", printed(&["list", "bundles", &etcd(), "etcd"]));
}

#[test]
fn graph_prints_mermaid_and_dot() {
    let channel = ["graph", &etcd(), "etcd", "--channel", "alpha"];
    insta::assert_snapshot!("graph_mermaid", printed(&channel));
    let dot: Vec<&str> = channel.into_iter().chain(["-o", "dot"]).collect();
    insta::assert_snapshot!("graph_dot", printed(&dot));
}

#[test]
fn what_was_rendered_is_the_same_catalog() {
    let folder = tempfile::tempdir().unwrap();
    for form in ["json", "yaml"] {
        let rendered = printed(&["render", &etcd(), "-o", form]);
        let file = folder.path().join(form);
        std::fs::write(&file, &rendered).unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(printed(&["render", file, "-o", form]), rendered, "{form}");
        assert_eq!(
            printed(&["list", "bundles", file]),
            printed(&["list", "bundles", &etcd()]),
            "{form}"
        );
    }
}
