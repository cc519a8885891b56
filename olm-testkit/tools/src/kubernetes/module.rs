//! The Go module `xtask/cluster`: one for everything that is compiled against Kubernetes, so that a
//! package which several programs need is compiled once.

use crate::module::{Module, Source};

/// What the API server says its version is; the version of `go.mod`.
pub const KUBERNETES: &str = "v1.34.4";

/// The version of CoreDNS, as images are tagged with it.
pub const COREDNS_VERSION: &str = "v1.12.4";

/// Flags of the linker: small programs that know their version.
const LINK: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.34.4 \
    -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34";

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../xtask/cluster/", $name)))
    };
}

/// What every program of the module needs.
const COMMON: [Source; 3] = [source!("go.mod"), source!("go.sum"), source!("parts/parts.go")];

pub(super) const CONTROL_PLANE: [Source; 6] = [
    source!("control-plane/main.go"),
    source!("control-plane/etcd.go"),
    source!("control-plane/kube_apiserver.go"),
    source!("control-plane/kube_controller_manager.go"),
    source!("control-plane/kube_scheduler.go"),
    source!("control-plane/kwok.go"),
];

pub(super) const NODE: [Source; 3] =
    [source!("node/main.go"), source!("dns/main.go"), source!("pause/main.go")];

pub(super) const KUBECTL: [Source; 1] = [source!("kubectl/main.go")];

/// Programs of the module, one for each folder of the files.
pub(crate) fn of(name: &'static str, title: &'static str, files: Vec<Source>) -> Module {
    let mut packages: Vec<String> = files
        .iter()
        .filter_map(|(file, _)| Some(format!("./{}", file.split_once('/')?.0)))
        .collect();
    packages.dedup();
    let files = COMMON.into_iter().chain(files).collect();
    Module { name, title, files, packages, tags: Vec::new(), link: LINK, patch: None, env: &[] }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_versions_in_the_flags_are_those_of_the_module() {
        let (_, go_mod) = COMMON[0];
        assert!(go_mod.contains(&format!("k8s.io/kubernetes {KUBERNETES}")));
        assert!(go_mod.contains(&format!("github.com/coredns/coredns {COREDNS_VERSION}")));
        assert!(LINK.contains(&format!("gitVersion={KUBERNETES}")));
    }

    #[test]
    fn a_folder_is_a_program() {
        assert_eq!(of("a", "a", NODE.to_vec()).packages, ["./node", "./dns", "./pause"]);
        assert_eq!(of("a", "a", CONTROL_PLANE.to_vec()).packages, ["./control-plane"]);
    }

    #[test]
    fn every_file_of_the_module_is_built() {
        let folder = Path::new("../../xtask/cluster");
        let all = COMMON.iter().chain(&CONTROL_PLANE).chain(&NODE).chain(&KUBECTL);
        let built: BTreeSet<String> = all.map(|(name, _)| (*name).to_owned()).collect();
        // That of helm is there for `go mod tidy`.
        let others = ["README.md", "helm/tools.go"].map(str::to_owned);
        let found = files(folder, "").into_iter().filter(|name| !others.contains(name));
        assert_eq!(found.collect::<BTreeSet<_>>(), built);
    }

    fn files(folder: &Path, prefix: &str) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| {
                let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
                if path.is_dir() { files(&path, &format!("{name}/")) } else { vec![name] }
            })
            .collect()
    }
}
