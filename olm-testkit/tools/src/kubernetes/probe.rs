//! Looks for programs on the machine and asks them for their versions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::choice::{Candidate, Origin};
use super::part::{Part, version};

/// How long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(5);

/// Where programs are looked for, in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramPaths {
    folders: Vec<(Origin, PathBuf)>,
}

impl ProgramPaths {
    /// `KUBEBUILDER_ASSETS` and `PATH` of this process.
    pub(super) fn of_this_machine() -> Self {
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").filter(|path| !path.is_empty());
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::new(assets.map(PathBuf::from), std::env::split_paths(&path))
    }

    fn new(assets: Option<PathBuf>, path: impl Iterator<Item = PathBuf>) -> Self {
        let assets = assets.map(|folder| (Origin::Assets, folder));
        let path = path.map(|folder| (Origin::Path, folder));
        // A relative folder would mean another one elsewhere.
        let folders = assets.into_iter().chain(path).filter(|(_, folder)| folder.is_absolute());
        // One folder often has several names, such as /bin.
        let mut seen = BTreeSet::new();
        let mut is_new = |folder: &Path| seen.insert(folder.canonicalize().unwrap_or_default());
        Self { folders: folders.filter(|(_, folder)| is_new(folder)).collect() }
    }

    /// The programs there that have the names of parts, with what they say of themselves.
    pub(super) fn candidates(&self, parts: &[Part]) -> Vec<Candidate> {
        let in_folder = |(origin, folder): &(Origin, PathBuf)| {
            let (origin, folder) = (*origin, folder.clone());
            parts.iter().filter_map(move |part| candidate(*part, origin, &folder))
        };
        self.folders.iter().flat_map(in_folder).collect()
    }
}

fn candidate(part: Part, origin: Origin, folder: &Path) -> Option<Candidate> {
    let program = folder.join(part.name());
    program.is_file().then(|| {
        let said = output(&program, part.version_arguments()).unwrap_or_default();
        Candidate { part, program, origin, version: version(&said).map(str::to_owned) }
    })
}

/// What a program prints, if it ends well and in time. It is little, so that the pipe holds it.
fn output(program: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let began = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::super::choice::choose;
    use super::*;
    use crate::run::tests::Scratch;

    fn fake(folder: &Path, name: &str, script: &str) {
        fs::create_dir_all(folder).unwrap();
        let program = folder.join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_are_asked_for_their_versions() {
        let dir = Scratch::new("probe");
        let (assets, first, second) = (dir.join("assets"), dir.join("first"), dir.join("second"));
        fake(&assets, "etcd", "test \"$1\" = --version && echo 'etcd Version: 3.6.4'");
        fake(
            &assets,
            "kubectl",
            "test \"$*\" = 'version --client' && echo Client Version: v1.34.2",
        );
        fake(&first, "kube-apiserver", "echo Kubernetes v1.31.0");
        fake(&second, "kube-apiserver", "echo Kubernetes v1.34.4");
        fake(&second, "kwok", "echo kwok version v0.7.0; exit 1");
        let same = dir.join("same");
        std::os::unix::fs::symlink(&first, &same).unwrap();
        let path = [first.clone(), same, "relative".into(), dir.join("missing"), second.clone()];
        let places = ProgramPaths::new(Some(assets.clone()), path.into_iter());
        let parts = [Part::Etcd, Part::KubeApiserver, Part::Kwok, Part::Kubectl];
        let choice = choose(&parts, places.candidates(&parts));
        let used: Vec<_> = choice.used.iter().map(|found| found.program.clone()).collect();
        assert_eq!(
            used,
            [assets.join("etcd"), assets.join("kubectl"), second.join("kube-apiserver")]
        );
        let passed: Vec<_> = choice.passed_over.iter().map(|found| found.version.clone()).collect();
        assert_eq!(passed, [Some("1.31.0".to_owned()), None]);
        assert_eq!(choice.missing, [Part::Kwok]);
    }
}
