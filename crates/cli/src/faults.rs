//! `pollmatrix faults`, and switching one on.

use std::fmt::Write;
use std::process::ExitCode;

use fd_core::fault::Fault;
use matrix::did_you_mean;
use serde_json::json;

use crate::args::{FaultsArgs, Format};
use crate::error::Error;
use crate::output;

/// Lists the faults.
pub fn run(args: &FaultsArgs) -> Result<ExitCode, Error> {
    let text = match args.format {
        Format::Json => {
            let entry = |fault: &Fault| json!({ "name": fault.name(), "origin": fault.origin() });
            let faults: Vec<_> = Fault::ALL.iter().map(entry).collect();
            format!("{:#}\n", json!(faults))
        }
        Format::Text => {
            let width = Fault::ALL.iter().map(|fault| fault.name().len()).max().unwrap_or(0);
            let mut text = String::new();
            for fault in Fault::ALL {
                let _ = writeln!(text, "{:width$}  {}", fault.name(), fault.origin());
            }
            text
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The fault of this name, if this program can switch it on.
pub fn find(name: &str) -> Result<Fault, Error> {
    let found = Fault::ALL.iter().find(|fault| fault.name() == name).copied();
    let fault =
        found.ok_or_else(|| Error::UnknownFault { name: name.to_owned(), help: did_you_mean_fault(name) })?;
    if cfg!(feature = "faults") { Ok(fault) } else { Err(Error::NoFaults) }
}

fn did_you_mean_fault(name: &str) -> String {
    match matrix::nearest(name, Fault::ALL.iter().map(|fault| fault.name())) {
        Some(_) => did_you_mean(name, Fault::ALL.iter().map(|fault| fault.name())),
        None => "`pollmatrix faults` lists them".into(),
    }
}

/// Switches the fault on for the rest of this process.
pub fn enable(fault: Fault) {
    #[cfg(feature = "faults")]
    fd_core::fault::enable(fault);
    #[cfg(not(feature = "faults"))]
    let _ = fault;
}
