//! kstatus of `sigs.k8s.io/cli-utils`, by which Flux and others judge objects of any kind.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::module::Module;
use crate::progress::Progress;

/// The built program.
#[derive(Clone, Debug)]
pub struct KStatus {
    program: PathBuf,
}

impl KStatus {
    /// Finds the program, building it when it is missing.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        Ok(Self { program: module().ensure(progress, |_| Ok(()))?.join("kstatus") })
    }

    /// The status of each object, given as JSON: `Current`, `InProgress`, `Failed` or `Terminating`.
    ///
    /// # Errors
    /// It cannot be run, or one of them is no object.
    pub fn of(&self, objects: &[String]) -> Result<Vec<String>> {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run kstatus")?;
        let mut stdin = child.stdin.take().context("kstatus reads nothing")?;
        let input = objects.join("\n");
        // Both ways at once: neither end waits for the other.
        let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().context("cannot read what kstatus says")?;
        if !output.status.success() {
            bail!("kstatus: {}", String::from_utf8_lossy(&output.stderr));
        }
        writer.join().ok().context("the writer has panicked")?.context("cannot ask kstatus")?;
        let printed = String::from_utf8(output.stdout).context("kstatus printed no text")?;
        let all: Vec<String> = printed.lines().map(str::to_owned).collect();
        ensure!(all.len() == objects.len(), "{} of {} objects", all.len(), objects.len());
        Ok(all)
    }
}

fn module() -> Module {
    let files = [
        ("go.mod", include_str!("../../../../xtask/kstatus/go.mod")),
        ("go.sum", include_str!("../../../../xtask/kstatus/go.sum")),
        ("main.go", include_str!("../../../../xtask/kstatus/main.go")),
    ];
    Module::new("kstatus", "kstatus v0.37.2", &files, vec![".".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_the_one_that_is_reported() {
        let [(_, go_mod), (_, go_sum), (_, main)] = module().files[..] else { unreachable!() };
        let version = module().title.strip_prefix("kstatus ").unwrap();
        assert!(go_mod.contains("module olm-rs/kstatus\n"), "the program has another name");
        assert!(go_mod.contains(&format!("sigs.k8s.io/cli-utils {version}\n")));
        assert!(go_sum.contains(&format!("sigs.k8s.io/cli-utils {version} ")));
        assert!(main.contains("\"sigs.k8s.io/cli-utils/pkg/kstatus/status\""));
    }
}
