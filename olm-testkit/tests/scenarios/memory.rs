//! What the operators take stays inside what their Deployments let them have, whatever scenario it is.

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use olm_testkit::process::peaks;

/// After all scenarios, when the operators have ended: no process of one took more. Says what they took.
pub fn conclude(arguments: &Arguments) -> Conclusion {
    let arguments = Arguments { filter: None, exact: false, ..arguments.clone() };
    let trial = Trial::test("memory::within_the_limits", || {
        examine().map_err(|error| Failed::from(format!("{error:#}")))
    });
    libtest_mimic::run(&arguments, vec![trial])
}

fn examine() -> Result<()> {
    for (program, peak) in peaks() {
        let [took, limit] = [peak.bytes, peak.limit].map(|bytes| bytes >> 20);
        println!("{program} took {took} MiB at most, of {limit} MiB");
        ensure!(peak.bytes <= peak.limit, "{program} took {took} MiB: {}", peak.log.display());
    }
    Ok(())
}
