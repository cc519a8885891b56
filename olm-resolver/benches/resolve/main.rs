//! How long a resolution takes, beside a reference that works as OLM v0 does.
//!
//! ```text
//! OLM_CORPUS=<folder with catalogs> cargo bench -p olm-resolver
//! ```
//! A word after `--` measures only the instances whose names contain it. The reference decodes every property and filters the whole catalog for every candidate; it has
//! to agree with v0 on the named cases before anything is measured.

mod instances;
mod measure;
mod reference;

use std::error::Error;

use instances::Instance;
use measure::{Median, load, resident_kib};
use olm_resolver::{ResolveError, Resolver};

/// Runs of each instance.
const RUNS: usize = 31;

fn main() -> Result<(), Box<dyn Error>> {
    memory(&instances::synthetic()?)?;
    check_reference()?;
    println!("load of the machine: {}", load());
    println!("{:<44} {:>10} {:>11} {:>12} {:>8}", "", "ours", "processor", "reference", "ratio");
    let mut instances = instances::corpus()?;
    instances.extend(instances::large_cases()?);
    instances.extend(instances::synthetic()?);
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    for instance in instances.iter().filter(|instance| instance.name.contains(&filter)) {
        compare(instance)?;
    }
    explanation(&instances::unsatisfiable()?)?;
    hostile_rule()?;
    println!("load of the machine: {}", load());
    Ok(())
}

/// Both must have the same answer, or none.
fn compare(instance: &Instance) -> Result<(), Box<dyn Error>> {
    let ours = Resolver { repairs: 0, ..Resolver::default() };
    let theirs = reference::resolver();
    let universe = instance.case.universe()?;
    let request = instance.case.request(&universe)?;
    let fast = Median::of(RUNS, || ours.resolve(&request));
    let scanning = reference::Scanning(&universe);
    let slow_request = reference::over(&request, &scanning);
    let slow = Median::of(instance.reference_runs, || theirs.resolve(&slow_request));
    if let (Some(ours), Some(theirs)) = (&fast.last, &slow.last)
        && ours.as_ref().ok() != theirs.as_ref().ok()
    {
        return Err(format!("{}: answers differ", instance.name).into());
    }
    println!(
        "{:<44} {:>7.2} ms {:>8.2} ms {:>9.1} ms {:>7.0}x",
        instance.name,
        fast.milliseconds,
        fast.processor,
        slow.milliseconds,
        slow.milliseconds / fast.milliseconds
    );
    Ok(())
}

fn explanation(instance: &Instance) -> Result<(), Box<dyn Error>> {
    let universe = instance.case.universe()?;
    let request = instance.case.request(&universe)?;
    let solve = Resolver { repairs: 0, ..Resolver::default() };
    let explain = Resolver::default();
    let bare = Median::of(RUNS, || solve.resolve(&request));
    let explained = Median::of(RUNS, || explain.resolve(&request));
    let Some(Err(ResolveError::NotSatisfiable(found))) = explained.last else {
        return Err("the unsatisfiable instance has an answer".into());
    };
    println!(
        "{:<44} {:>7.2} ms, with {} verified repairs {:.2} ms ({:.1}x)",
        instance.name,
        bare.milliseconds,
        found.repairs().len(),
        explained.milliseconds,
        explained.milliseconds / bare.milliseconds
    );
    Ok(())
}

fn hostile_rule() -> Result<(), Box<dyn Error>> {
    let instance = instances::hostile_rule()?;
    let universe = instance.case.universe()?;
    let request = instance.case.request(&universe)?;
    let run = Median::of(RUNS, || Resolver::default().resolve(&request));
    if !matches!(run.last, Some(Err(ResolveError::Faulty(_)))) {
        return Err("the hostile rule was not refused".into());
    }
    println!("{:<44} {:>7.2} ms until it is refused", instance.name, run.milliseconds);
    Ok(())
}

/// What resolving the largest instance adds to the peak of the process, which has done nothing
/// else so far.
fn memory(instances: &[Instance]) -> Result<(), Box<dyn Error>> {
    let Some(largest) = instances.last() else { return Ok(()) };
    let universe = largest.case.universe()?;
    measure::forget_peak()?;
    let (before, _) = resident_kib();
    // A new thread allocates from memory of its own, not from what reading the instance has freed.
    let work = || {
        let request = largest.case.request(&universe);
        request.is_ok_and(|request| Resolver::default().resolve(&request).is_ok())
    };
    let solved = std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_default());
    let (_, peak) = resident_kib();
    let grown = peak.saturating_sub(before);
    println!("memory of the problem of {}: at most {grown} KiB (solved: {solved})", largest.name);
    Ok(())
}

fn check_reference() -> Result<(), Box<dyn Error>> {
    let resolver = reference::resolver();
    let mut agree = 0;
    for case in instances::named_cases()? {
        let universe = case.universe()?;
        let request = case.request(&universe)?;
        let scanning = reference::Scanning(&universe);
        let outcome = resolver.resolve(&reference::over(&request, &scanning)).into();
        if let Err(difference) = case.expect.check(&outcome) {
            return Err(format!("the reference is wrong about {}\n{difference}", case.name).into());
        }
        agree += 1;
    }
    println!("the reference agrees with v0 on {agree} named cases");
    Ok(())
}
