//! The list of the faults.

use std::fmt::Write;

use fd_core::hooks::fault::Fault;
use serde_json::json;

use crate::args::RunFormat;

/// Formats every fault with its summary and its origin.
pub fn text(format: RunFormat) -> String {
    match format {
        RunFormat::Json => {
            let entry = |fault: &Fault| {
                let backends: Vec<_> = fault.backends().collect();
                json!({
                    "name": fault.name(),
                    "summary": fault.summary(),
                    "origin": fault.origin(),
                    "backends": if backends.is_empty() { json!("all") } else { json!(backends) },
                })
            };
            let faults: Vec<_> = Fault::ALL.iter().map(entry).collect();
            metadata::json(&json!(faults))
        }
        RunFormat::Markdown => {
            let mut text = String::from("| fault | what it breaks | where that happened |\n|---|---|---|\n");
            for fault in Fault::ALL {
                let _ = writeln!(text, "| `{}` | {} | {} |", fault.name(), fault.summary(), fault.origin());
            }
            text
        }
        RunFormat::Text => {
            let width = Fault::ALL.iter().map(|fault| fault.name().len()).max().unwrap_or(0);
            let mut text = String::new();
            for fault in Fault::ALL {
                let _ = writeln!(text, "{:width$}  {} ({})", fault.name(), fault.summary(), fault.origin());
            }
            text
        }
    }
}
