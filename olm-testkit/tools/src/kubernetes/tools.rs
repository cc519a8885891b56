//! The programs of a control plane, wherever they come from.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::choice::{Choice, choose};
use super::module::{self, KUBERNETES};
use super::part::Part;
use super::probe::ProgramPaths;
use crate::cache::tools_dir;
use crate::module::Module;
use crate::patch::Patch;
use crate::progress::Progress;

/// kwok 0.7.0 names a constant that Kubernetes 1.34 has no more. The API server did not send what it
/// stands for before either, unless it was asked to.
const KWOK: Patch = Patch {
    module: "sigs.k8s.io/kwok",
    file: "pkg/utils/informer/informer.go",
    from: "metav1.InitialEventsListBlueprintAnnotationKey",
    to: "\"kubernetes.io/initial-events-list-blueprint\"",
};

/// What plays a cluster: those programs of the machine that have a right version, and one that is
/// built of all other parts.
#[derive(Clone, Debug)]
pub struct Tools {
    programs: BTreeMap<Part, PathBuf>,
    kubernetes: String,
}

impl Tools {
    /// Finds the programs, building what is missing.
    ///
    /// # Errors
    /// There is no Go where something is missing, or the build fails.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let choice = on_this_machine(&Part::CLUSTER);
        choice.lines().for_each(|line| progress.step(line));
        if let Some(module) = missing(&choice) {
            module.ensure(progress, |workshop| link(workshop.output, &choice.missing))?;
        }
        Self::of(&choice)
    }

    /// Where the programs are, or would be.
    ///
    /// # Errors
    /// There is no place for what is built.
    pub fn expected() -> Result<Self> {
        Self::of(&on_this_machine(&Part::CLUSTER))
    }

    /// The executable of a part.
    pub fn program(&self, part: Part) -> PathBuf {
        self.programs.get(&part).cloned().unwrap_or_else(|| part.name().into())
    }

    /// The version of the API server.
    pub fn kubernetes(&self) -> &str {
        &self.kubernetes
    }

    fn of(choice: &Choice) -> Result<Self> {
        let found = choice.used.iter().map(|found| (found.part, found.program.clone()));
        let mut programs: BTreeMap<_, _> = found.collect();
        if let Some(module) = missing(choice) {
            let dir = tools_dir()?.join(module.folder());
            programs.extend(choice.missing.iter().map(|part| (*part, dir.join(part.name()))));
        }
        let found = choice.used.iter().find(|found| found.part == Part::KubeApiserver);
        let version = found.and_then(|found| found.version.as_deref());
        let kubernetes = version.map_or(KUBERNETES.to_owned(), |version| format!("v{version}"));
        Ok(Self { programs, kubernetes })
    }
}

/// kubectl, which is built when the machine has none of a right version.
///
/// # Errors
/// There is no Go where it is missing, or the build fails.
pub fn kubectl(progress: &Progress) -> Result<PathBuf> {
    let choice = on_this_machine(&[Part::Kubectl]);
    choice.lines().for_each(|line| progress.step(line));
    if let Some(found) = choice.used.into_iter().next() {
        return Ok(found.program);
    }
    let module = module::of("kubectl", "kubectl v1.34.4", module::KUBECTL.to_vec());
    Ok(module.ensure(progress, |_| Ok(()))?.join("kubectl"))
}

fn on_this_machine(parts: &[Part]) -> Choice {
    choose(parts, ProgramPaths::of_this_machine().candidates(parts))
}

/// What has to be built: none when the machine has everything.
fn missing(choice: &Choice) -> Option<Module> {
    let title = match choice.missing.as_slice() {
        [] => return None,
        [Part::Etcd] => "etcd",
        [Part::Kwok] => "kwok",
        missing if missing.contains(&Part::KubeApiserver) => "Kubernetes v1.34.4",
        _ => "parts of Kubernetes v1.34.4",
    };
    let tags = choice.used.iter().map(|found| found.part.left_out()).collect();
    let files = module::CONTROL_PLANE.to_vec();
    Some(Module { tags, patch: Some(KWOK), ..module::of("control-plane", title, files) })
}

/// Gives the one program the names of its parts: it is the part that it is called.
fn link(output: &Path, parts: &[Part]) -> Result<()> {
    let program = output.join("olm-control-plane");
    fs::rename(output.join("control-plane"), program).context("there is no control plane")?;
    parts.iter().try_for_each(|part| {
        symlink("olm-control-plane", output.join(part.name())).context("cannot make a link")
    })
}

#[cfg(test)]
mod tests {
    use super::super::choice::{Candidate, Origin};
    use super::*;

    fn with(used: &[(Part, &str)]) -> Choice {
        let candidates = used.iter().map(|(part, version)| Candidate {
            part: *part,
            program: PathBuf::from("/usr/bin").join(part.name()),
            origin: Origin::Path,
            version: Some((*version).to_owned()),
        });
        choose(&Part::CLUSTER, candidates.collect())
    }

    #[test]
    fn what_the_machine_has_is_not_compiled() {
        let module = missing(&with(&[(Part::Etcd, "3.6.4"), (Part::KubeApiserver, "1.34.1")]));
        assert_eq!(module.unwrap().tags, ["without_etcd", "without_kube_apiserver"]);
        let everything = [
            (Part::Etcd, "3.6.4"),
            (Part::KubeApiserver, "1.34.1"),
            (Part::KubeControllerManager, "1.34.1"),
            (Part::KubeScheduler, "1.34.1"),
            (Part::Kwok, "0.7.0"),
        ];
        assert!(missing(&with(&everything)).is_none());
        assert_eq!(missing(&with(&[])).unwrap().tags, [""; 0]);
    }

    #[test]
    fn every_part_has_a_file_that_a_tag_leaves_out() {
        for part in Part::CLUSTER {
            let name = format!("control-plane/{}.go", part.name().replace('-', "_"));
            let file = module::CONTROL_PLANE.iter().find(|(file, _)| *file == name);
            let line = format!("//go:build !{}\n", part.left_out());
            assert!(file.unwrap().1.starts_with(&line), "{name}");
        }
    }

    #[test]
    fn found_and_built_programs_make_a_cluster_together() {
        let tools = Tools::of(&with(&[(Part::KubeApiserver, "1.34.1")])).unwrap();
        assert_eq!(tools.program(Part::KubeApiserver), Path::new("/usr/bin/kube-apiserver"));
        assert!(tools.program(Part::Kwok).ends_with("kwok"));
        assert!(tools.program(Part::Kwok).to_string_lossy().contains("/control-plane-"));
        assert_eq!(tools.kubernetes(), "v1.34.1");
    }

    #[test]
    fn the_titles_name_the_version_that_is_built() {
        for part in Part::CLUSTER {
            let title = missing(&with(&[(part, "3.6.0")])).unwrap().title;
            assert!(title.ends_with(KUBERNETES), "{title}");
        }
    }
}
