//! Where shells, and kubectl, look for what completes a command.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::args::Shell;

/// Writes a script where its reader looks for it; the file.
///
/// # Errors
/// The environment names no such place, or it cannot be written.
pub(super) fn put(shell: Shell, script: &str) -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let file = file(shell, variable, beside.as_deref())?;
    let context = || format!("cannot write {}", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(context)?;
    }
    fs::write(&file, script).with_context(context)?;
    if shell == Shell::Kubectl {
        executable(&file).with_context(context)?;
    }
    Ok(file)
}

/// The place of a script. kubectl asks a program on the `PATH`: the one beside this program, as that is on it.
fn file(
    shell: Shell,
    variable: impl Fn(&str) -> Option<PathBuf>,
    beside: Option<&Path>,
) -> Result<PathBuf> {
    let home = variable("HOME").filter(|home| home.is_absolute());
    let below = |name: &str, usual: &str| {
        let named = variable(name).filter(|path| path.is_absolute());
        named.or_else(|| home.as_ref().map(|home| home.join(usual)))
    };
    let found = match shell {
        Shell::Bash => below("XDG_DATA_HOME", ".local/share")
            .map(|data| data.join("bash-completion/completions/kubectl-olm")),
        Shell::Zsh => below("XDG_DATA_HOME", ".local/share")
            .map(|data| data.join("zsh/site-functions/_kubectl-olm")),
        Shell::Fish => below("XDG_CONFIG_HOME", ".config")
            .map(|config| config.join("fish/completions/kubectl-olm.fish")),
        Shell::PowerShell => bail!(
            "PowerShell reads its profile alone: put the line \
             `kubectl-olm completion powershell | Out-String | Invoke-Expression` into the file that $PROFILE names"
        ),
        Shell::Kubectl if cfg!(windows) => bail!("kubectl asks no script of a shell on Windows"),
        Shell::Kubectl => beside.map(|folder| folder.join("kubectl_complete-olm")),
    };
    found.context("neither HOME nor the XDG variables name a folder for it")
}

#[cfg(unix)]
fn executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powershell_has_no_place() {
        let error = file(Shell::PowerShell, |_| Some(PathBuf::from("/h")), None).unwrap_err();
        assert!(error.to_string().contains("$PROFILE"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn each_shell_has_its_place() {
        let place = |shell: Shell, variables: &'static [(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| PathBuf::from(value))
            };
            let found = file(shell, variable, Some(Path::new("/bin")));
            found.map(|path| path.display().to_string()).unwrap_or_default()
        };
        let home: &[_] = &[("HOME", "/h")];
        let bash = "/h/.local/share/bash-completion/completions/kubectl-olm";
        assert_eq!(place(Shell::Bash, home), bash);
        assert_eq!(place(Shell::Zsh, home), "/h/.local/share/zsh/site-functions/_kubectl-olm");
        assert_eq!(place(Shell::Fish, home), "/h/.config/fish/completions/kubectl-olm.fish");
        assert_eq!(place(Shell::Kubectl, &[]), "/bin/kubectl_complete-olm");
        assert_eq!(
            place(Shell::Fish, &[("XDG_CONFIG_HOME", "/c")]),
            "/c/fish/completions/kubectl-olm.fish"
        );
        assert_eq!(place(Shell::Bash, &[]), "");
    }
}
