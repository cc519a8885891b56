//! `cargo xtask resolve < cases.jsonl`: resolves cases, one outcome per line, in the order of the
//! lines. A line that is no case gives an outcome, too: an error that says what is wrong with it.

pub mod conformance;

use std::io::{self, BufRead, Write};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use olm_resolver::cases::{Case, CaseError, Outcome};
use olm_resolver::{Explanation, Policy, Resolution, ResolveError, Resolver};
use serde_json::{Map, Value, json};

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How to resolve: "v0", all or nothing as OLM v0 does, or "isolated", the operators' default
    #[arg(long, default_value_t = Policy::V0)]
    resolution: Policy,

    /// Adds why there is no answer, in sentences, and the repairs that were verified
    #[arg(long)]
    explain: bool,

    /// Adds `time_us`: how long the resolution took, in microseconds, without reading the case
    #[arg(long)]
    time: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut resolver = Resolver::default();
    if !arguments.explain {
        resolver.repairs = 0;
    }
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.context("standard input is not UTF-8")?;
        if !line.trim().is_empty() {
            writeln!(out, "{}", Value::Object(outcome(&line, &resolver, arguments)))?;
        }
    }
    Ok(())
}

fn outcome(line: &str, resolver: &Resolver, arguments: &Arguments) -> Map<String, Value> {
    let mut members = Map::new();
    let answered = Case::parse(line).and_then(|case| {
        members.insert("name".to_owned(), json!(case.name));
        resolve(&case, resolver, arguments.resolution)
    });
    let (result, microseconds) = match answered {
        Ok(answered) => answered,
        Err(error) => {
            members.insert("error".to_owned(), json!(error.to_string()));
            return members;
        }
    };
    if arguments.explain
        && let Err(ResolveError::NotSatisfiable(explanation)) = &result
    {
        explain(explanation, &mut members);
    }
    if let Ok(Value::Object(outcome)) = serde_json::to_value(Outcome::from(result)) {
        members.extend(outcome);
    }
    if arguments.time {
        members.insert("time_us".to_owned(), json!(microseconds));
    }
    members
}

type Answered = (Result<Resolution, ResolveError>, u64);

/// The answer and the microseconds that it took.
fn resolve(case: &Case, resolver: &Resolver, policy: Policy) -> Result<Answered, CaseError> {
    let universe = case.universe()?;
    let request = case.request(&universe)?;
    let start = Instant::now();
    let answer = resolver.outcome(&request, policy);
    Ok((answer.into_resolution(), u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)))
}

fn explain(explanation: &Explanation, members: &mut Map<String, Value>) {
    let repairs: Vec<String> = explanation.repairs().iter().map(ToString::to_string).collect();
    members.insert("explanation".to_owned(), json!(explanation.summary()));
    members.insert("repairs".to_owned(), json!(repairs));
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = r#"{"name":"c","namespace":"n","catalogs":[{"name":"k","namespace":"n","fbc":[
        {"schema":"olm.package","name":"p","defaultChannel":"a"},
        {"schema":"olm.channel","package":"p","name":"a","entries":[{"name":"p.v1"}]},
        {"schema":"olm.bundle","package":"p","name":"p.v1","properties":[
            {"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}]}],
        "subscriptions":[{"name":"s","package":"p","channel":"CHANNEL","catalog":"k","catalogNamespace":"n"}]}"#;

    fn run(line: &str, explain: bool, time: bool) -> Value {
        let arguments = Arguments { resolution: Policy::V0, explain, time };
        Value::Object(outcome(line, &Resolver::default(), &arguments))
    }

    #[test]
    fn an_install() {
        let placement = json!({"package": "p", "bundle": "p.v1", "version": "1.0.0", "catalog": "n/k", "channel": "a"});
        let line = CASE.replace("CHANNEL", "a");
        assert_eq!(run(&line, false, false), json!({"name": "c", "install": [placement]}));
        assert!(run(&line, false, true)["time_us"].is_u64());
    }

    #[test]
    fn a_refusal_is_explained() {
        let found = run(&CASE.replace("CHANNEL", "b"), true, false);
        assert_eq!(found["unsatisfiable"].as_array().unwrap().len(), 2);
        assert_eq!(found["repairs"], json!(["use channel a of package p in Subscription s"]));
        assert!(found["explanation"].as_str().unwrap().starts_with("Subscription s asks for"));
    }

    #[test]
    fn a_line_that_is_no_case() {
        let found = run("{", false, true);
        assert!(found["error"].as_str().unwrap().starts_with("case does not parse: "), "{found}");
    }
}
