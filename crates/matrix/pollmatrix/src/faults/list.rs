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
                let backends = backends(*fault);
                json!({
                    "name": fault.name(),
                    "summary": fault.summary(),
                    "origin": fault.origin(),
                    "backends": if backends.is_empty() { json!("all") } else { json!(backends) },
                })
            };
            let faults: Vec<_> = Fault::SCENARIOS.iter().map(entry).collect();
            metadata::json(&json!(faults))
        }
        RunFormat::Markdown => {
            let mut text = String::from(
                "| fault | what it breaks | backends | where that happened |\n|---|---|---|---|\n",
            );
            for fault in Fault::SCENARIOS {
                let (name, summary, backends) = (fault.name(), fault.summary(), backends(*fault).join(", "));
                let _ = writeln!(text, "| `{name}` | {summary} | {backends} | {} |", fault.origin());
            }
            text
        }
        RunFormat::Text => {
            let width = Fault::SCENARIOS.iter().map(|fault| fault.name().len()).max().unwrap_or(0);
            let mut text = String::new();
            for fault in Fault::SCENARIOS {
                let mut backends = backends(*fault).join(", ");
                if !backends.is_empty() {
                    backends += ": ";
                }
                let (name, summary, origin) = (fault.name(), fault.summary(), fault.origin());
                let _ = writeln!(text, "{name:width$}  {backends}{summary} ({origin})");
            }
            text
        }
    }
}

/// Returns the backends that can contain the fault. Empty if all can.
pub fn backends(fault: Fault) -> Vec<&'static str> {
    fault.backends().iter().map(|backend| backend.name()).collect()
}
