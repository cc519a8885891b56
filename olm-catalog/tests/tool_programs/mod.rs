//! The binary `olm-registry` with the feature `tools`, under the names that Jobs and Pods use.

pub mod api_server;
mod extract;
mod serve;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rstest::rstest;
use tempfile::TempDir;

use crate::support::built;

/// A folder with the binary under the names that our image has for it.
struct Image {
    dir: TempDir,
}

impl Image {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["opm", "configmap-server"] {
            symlink(built("olm-registry"), dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A call that finds no cluster but the one that it is given.
    fn command(&self, line: &str) -> Command {
        let mut words = line.split_whitespace();
        let mut command = Command::new(self.path().join(words.next().unwrap()));
        command.args(words).current_dir(self.path()).env_clear().env("HOME", self.path());
        command
    }

    /// Code and everything that was printed.
    fn run(&self, line: &str) -> (i32, String) {
        let output = self.command(line).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }
}

#[rstest]
#[case("opm version", "olm-registry ")]
#[case("opm --version", "olm-registry ")]
#[case("configmap-server --version", "configmap-server ")]
fn versions(#[case] line: &str, #[case] name: &str) {
    assert_eq!(Image::new().run(line), (0, format!("{name}{}\n", env!("CARGO_PKG_VERSION"))));
}

#[rstest]
#[case("opm --help", &["serve", "validate", "alpha", "version"])]
#[case("opm alpha bundle extract --help", &["-m, --manifestsdir", "-n, --namespace", "-c, --configmapname", "-l, --datalimit", "-z, --gzip", "-k, --kubeconfig", "--debug", "1048576"])]
#[case("configmap-server --help", &["-c, --configMapName", "-n, --configMapNamespace", "-p, --port", "-t, --termination-log", "--permissive", "50051"])]
fn help_names_what_there_is(#[case] line: &str, #[case] expected: &[&str]) {
    let (code, text) = Image::new().run(line);
    assert_eq!(code, 0, "{text}");
    for word in expected {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

#[rstest]
#[case("opm", "Usage: ")]
#[case("opm render-template", "unrecognized subcommand 'render-template'")]
#[case("opm alpha bundle validate", "unrecognized subcommand 'validate'")]
#[case("opm alpha bundle extract", "--configmapname <CONFIG_MAP_NAME>")]
#[case("opm alpha bundle extract -c a -l many", "invalid value 'many' for '--datalimit")]
#[case("configmap-server -c a", "--configMapNamespace <CONFIG_MAP_NAMESPACE>")]
#[case("configmap-server serve", "unexpected argument 'serve'")]
fn mistakes_are_explained(#[case] line: &str, #[case] expected: &str) {
    let (code, text) = Image::new().run(line);
    assert!(code == 2 && text.contains(expected), "{code}: {text}");
}

#[rstest]
#[case("opm alpha bundle extract -m . -n a -c b", "error loading manifests from directory: ")]
#[case("configmap-server -n a -c b", "")]
fn without_a_cluster_it_says_so(#[case] line: &str, #[case] start: &str) {
    let image = Image::new();
    std::fs::create_dir(image.path().join("manifests")).unwrap();
    std::fs::create_dir(image.path().join("metadata")).unwrap();
    let (code, text) = image.run(line);
    let hint = "cluster config failed: give a --kubeconfig, or run in a Pod with a ServiceAccount";
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with(&format!("Error: {start}{hint}: ")), "{text}");
    let (code, text) = image.run(&format!("{line} -k nowhere"));
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with(&format!("Error: {start}cluster config failed: ")), "{text}");
}
