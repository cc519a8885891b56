//! `cargo xtask conformance resolver [FILES]`: cases with the outcome that OLM v0 gives, against
//! our resolver under `--resolution=v0`. Prints every difference, then `N passed, N failed`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use flate2::read::GzDecoder;
use olm_resolver::cases::Case;
use olm_resolver::{Policy, Resolver};

use xtask::workspace;

/// The committed cases.
const COMMITTED: &[&str] = &["named.jsonl", "random.jsonl.gz", "perf.jsonl.gz"];

/// Committed cases with an outcome that v0 does not fix: what it was seen to install lacks a dependency,
/// as docs/differences.md says.
const COMPLETED: &[&str] = &["r1-0214", "r1-0241", "r1-0405"];

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Files of cases, one per line, perhaps compressed (.gz); the committed ones by default
    files: Vec<PathBuf>,
}

#[derive(Default)]
struct Count {
    passed: usize,
    completed: usize,
    failed: usize,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut files = arguments.files.clone();
    if files.is_empty() {
        let folder = workspace::root().join("olm-resolver/tests/data");
        files.extend(COMMITTED.iter().map(|name| folder.join(name)));
    }
    let resolver = Resolver { repairs: 0, ..Resolver::default() };
    let mut count = Count::default();
    for file in &files {
        let before = count.passed;
        compare(file, &resolver, &mut count)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{name}: {} agree", count.passed - before);
    }
    if count.completed > 0 {
        println!("{} have a dependency that v0 leaves out", count.completed);
    }
    println!("{} passed, {} failed", count.passed, count.failed);
    if count.failed > 0 {
        bail!("outcomes differ from those of OLM v0");
    }
    Ok(())
}

fn compare(file: &Path, resolver: &Resolver, count: &mut Count) -> Result<()> {
    for (number, line) in (1..).zip(open(file)?.lines()) {
        let place = || format!("{}:{number}", file.display());
        let line = line.with_context(place)?;
        if line.trim().is_empty() {
            continue;
        }
        let case = Case::parse(&line).with_context(place)?;
        let outcome = case.run(resolver, Policy::V0).with_context(place)?;
        match case.expect.check(&outcome) {
            Ok(()) => count.passed += 1,
            Err(difference) => {
                let why = Some(&case.why).filter(|why| !why.is_empty());
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                println!("{} differs{why}\n{difference}", case.name);
                let known = !case.expect.stable && COMPLETED.contains(&case.name.as_str());
                if known { count.completed += 1 } else { count.failed += 1 }
            }
        }
    }
    Ok(())
}

fn open(file: &Path) -> Result<BufReader<Box<dyn Read>>> {
    let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    let is_compressed = file.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if is_compressed { Box::new(GzDecoder::new(opened)) } else { Box::new(opened) };
    Ok(BufReader::new(reader))
}
