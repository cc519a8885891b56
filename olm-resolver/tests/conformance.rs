//! The committed cases, against the default resolver. Prints every difference and a count.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use olm_resolver::Resolver;
use olm_resolver::cases::Case;

#[test]
fn named_cases() {
    agree("named.jsonl");
}

#[test]
fn random_cases() {
    agree("random.jsonl.gz");
}

/// Outcomes of unstable cases must be among the listed ones, too.
fn agree(file: &str) {
    let resolver = Resolver::default();
    let (mut passed, mut failed) = (0, 0);
    for case in cases(file) {
        let outcome = case.run(&resolver).unwrap();
        match case.expect.check(&outcome) {
            Ok(()) => passed += 1,
            Err(difference) => {
                failed += 1;
                println!("{}: {}\n{difference}", case.name, case.why);
            }
        }
    }
    println!("{file}: {passed} passed, {failed} failed");
    assert_eq!(failed, 0, "{file}: {passed} passed, {failed} failed");
}

fn cases(file: &str) -> impl Iterator<Item = Case> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let opened = File::open(&path).unwrap();
    let reader: Box<dyn Read> =
        if file.ends_with(".gz") { Box::new(GzDecoder::new(opened)) } else { Box::new(opened) };
    BufReader::new(reader).lines().map(|line| Case::parse(&line.unwrap()).unwrap())
}
