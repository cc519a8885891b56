//! One build with Go, and what it says of itself while it goes.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::module::{Module, ModuleBuild};
use crate::progress::Progress;
use crate::run::{Reminder, run};
use crate::times;

/// Builds the programs of a module into the folder of its workshop.
pub(crate) fn compile(
    module: &Module,
    workshop: &ModuleBuild<'_>,
    progress: &Progress,
) -> Result<()> {
    let (title, began) = (module.title, Instant::now());
    let last = times::last(&remembered(module)).map_or_else(String::new, last_time);
    progress.step(format!("building {title} from Go modules, once per machine{last}"));
    let mut reminder = Reminder::new();
    let packages = count(module, workshop, progress, &mut reminder)?;
    if let Some(patch) = &module.patch {
        patch.apply(&workshop.source, || workshop.command())?;
    }
    let mut command = workshop.command();
    command.args(["build", "-v"]).args(module.flags()).arg(format!("-ldflags={}", module.link));
    // A folder as output takes each program under its own name.
    command.arg("-o").arg(workshop.output.join("")).args(&module.packages);
    let log = workshop.output.with_extension("log");
    run(command, &log, progress, &mut reminder, |done, seconds| {
        format!("{title}: {}, {seconds} s so far{last}", stage(done, packages.to_compile))
    })
    .with_context(|| format!("{title}: the build failed"))?;
    if packages.are_mostly_new() {
        times::remember(&remembered(module), began.elapsed());
    }
    progress.step(format!("{title}: built in {} s", began.elapsed().as_secs()));
    Ok(())
}

fn remembered(module: &Module) -> String {
    format!("go {}", module.name)
}

/// In brackets behind something else.
fn last_time(took: Duration) -> String {
    format!(" (last time {} s)", took.as_secs())
}

/// What a build is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packages {
    all: usize,
    /// Those that Go has not compiled before.
    to_compile: usize,
}

impl Packages {
    /// Whether this build takes about as long as one from nothing.
    fn are_mostly_new(self) -> bool {
        self.to_compile * 2 > self.all
    }
}

/// Marks a package in the list that is compiled already. A program is so, too, when nothing but its
/// executable is missing.
const LINE: &str = "{{.ImportPath}}\
    {{if or (not .Stale) (eq .StaleReason \"not installed but available in build cache\")}} \
    compiled{{end}}";

/// Counts the packages. Fetches their modules, which is what takes long here.
fn count(
    module: &Module,
    workshop: &ModuleBuild<'_>,
    progress: &Progress,
    reminder: &mut Reminder,
) -> Result<Packages> {
    let title = module.title;
    let log = workshop.output.with_extension("log");
    let mut command = workshop.command();
    command.args(["list", "-deps", "-f", LINE]).args(module.flags()).args(&module.packages);
    run(command, &log, progress, reminder, |fetched, seconds| {
        format!("{title}: downloading modules, {fetched} so far, {seconds} s")
    })
    .with_context(|| format!("{title}: its modules cannot be fetched"))?;
    Ok(packages(&fs::read_to_string(&log).context("cannot read the list of packages")?))
}

/// The packages in what `go list` has written, among other things that it says.
fn packages(list: &str) -> Packages {
    let compiled = list.lines().filter(|line| line.ends_with(" compiled")).count();
    let to_compile = list.lines().filter(|line| !line.is_empty() && !line.contains(' ')).count();
    Packages { all: compiled + to_compile, to_compile }
}

fn stage(done: usize, total: usize) -> String {
    if done < total { format!("{done} of {total} packages") } else { "linking".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_says_besides_is_no_package() {
        let list = "go: downloading k8s.io/api v0.34.4\nfmt compiled\nk8s.io/api/core/v1\n\n";
        assert_eq!(packages(list), Packages { all: 2, to_compile: 1 });
    }

    #[test]
    fn a_build_of_little_says_nothing_of_one_from_nothing() {
        assert!(Packages { all: 2610, to_compile: 2610 }.are_mostly_new());
        assert!(!Packages { all: 2610, to_compile: 12 }.are_mostly_new());
    }

    #[test]
    fn the_stage_of_a_build_is_reported() {
        assert_eq!(stage(812, 1430), "812 of 1430 packages");
        assert_eq!(stage(1430, 1430), "linking");
        assert_eq!(stage(0, 0), "linking");
    }
}
