//! Resolves cases: one JSON object per line on standard input, one outcome per line on standard
//! output, and for those without an answer the sentences for people on standard error.
//!
//! ```text
//! cargo run -p olm-resolver --example resolve < olm-resolver/tests/data/named.jsonl
//! ```

use std::error::Error;
use std::io::{self, BufRead, Write};

use olm_resolver::Resolver;
use olm_resolver::cases::{Case, Outcome};

fn main() -> Result<(), Box<dyn Error>> {
    let resolver = Resolver::default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case = Case::parse(&line?)?;
        let result = case.resolve(&resolver)?;
        if let Err(olm_resolver::ResolveError::NotSatisfiable(explanation)) = &result {
            eprintln!("{}: {}", case.name, explanation.summary());
        }
        writeln!(out, "{}", serde_json::to_string(&Outcome::from(result))?)?;
    }
    Ok(())
}
