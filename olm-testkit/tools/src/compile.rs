//! One build with Go, and what it says of itself while it goes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::durations;
use crate::module::{Module, Workshop};
use crate::progress::Progress;
use crate::run::{Reminder, run};

/// Builds the programs of a module into the folder of its workshop. `root` remembers how long.
pub(crate) fn compile(
    module: &Module,
    workshop: &Workshop<'_>,
    root: &Path,
    progress: &Progress,
) -> Result<()> {
    let (title, began) = (module.title, Instant::now());
    let last = durations::words(durations::last(root, module.name));
    progress.step(format!("building {title} from Go modules, once per machine{last}"));
    let mut reminder = Reminder::new();
    let total = count(module, workshop, progress, &mut reminder)?;
    if let Some(patch) = &module.patch {
        patch.apply(&workshop.source, || workshop.command())?;
    }
    let mut command = workshop.command();
    command.args(["build", "-v"]).args(module.flags()).arg(format!("-ldflags={}", module.link));
    // A folder as output takes each program under its own name.
    command.arg("-o").arg(workshop.output.join("")).args(&module.packages);
    let log = workshop.output.with_extension("log");
    run(command, &log, progress, &mut reminder, |done, seconds| {
        format!("{title}: {}, {seconds} s so far{last}", stage(done, total))
    })
    .with_context(|| format!("{title}: the build failed"))?;
    durations::remember(root, module.name, began.elapsed());
    progress.step(format!("{title}: built in {} s", began.elapsed().as_secs()));
    Ok(())
}

/// How many packages have to be compiled. Fetches their modules, which is what takes long here.
fn count(
    module: &Module,
    workshop: &Workshop<'_>,
    progress: &Progress,
    reminder: &mut Reminder,
) -> Result<usize> {
    let title = module.title;
    let log = workshop.output.with_extension("log");
    let mut command = workshop.command();
    command.args(["list", "-deps"]).args(module.flags()).args(&module.packages);
    run(command, &log, progress, reminder, |fetched, seconds| {
        format!("{title}: downloading modules, {fetched} so far, {seconds} s")
    })
    .with_context(|| format!("{title}: its modules cannot be fetched"))?;
    Ok(packages(&fs::read_to_string(&log).context("cannot read the list of packages")?))
}

/// The number of packages in what `go list` has written; what it says besides holds spaces.
fn packages(list: &str) -> usize {
    list.lines().filter(|line| !line.is_empty() && !line.contains(' ')).count()
}

fn stage(done: usize, total: usize) -> String {
    if done < total { format!("{done} of {total} packages") } else { "linking".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_says_besides_is_no_package() {
        let list = "go: downloading k8s.io/api v0.34.4\nfmt\nk8s.io/api/core/v1\n\n";
        assert_eq!(packages(list), 2);
    }

    #[test]
    fn the_stage_of_a_build_is_told() {
        assert_eq!(stage(812, 1430), "812 of 1430 packages");
        assert_eq!(stage(1430, 1430), "linking");
    }
}
