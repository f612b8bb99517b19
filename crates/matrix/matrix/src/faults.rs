//! Faults of the core, and injected errors below it, switched on for the rest of this process.

use std::num::NonZeroU32;

use fd_core::hooks::fault::Fault;
use metadata::{Seed, did_you_mean};

use crate::error::Error;

/// Returns the fault of this name, if this program can switch it on.
///
/// # Errors
/// There is no such fault, or this program was built without faults.
pub fn find(name: &str) -> Result<Fault, Error> {
    let found = by_name(name);
    let fault =
        found.ok_or_else(|| Error::UnknownFault { name: name.to_owned(), help: did_you_mean_fault(name) })?;
    if cfg!(feature = "faults") { Ok(fault) } else { Err(Error::NoFaults) }
}

/// Returns the faults that the names and patterns (`kqueue-*`) select, each once, in the order of the list.
///
/// # Errors
/// There is no fault for one of them, or this program was built without faults.
pub fn select(names: &[String]) -> Result<Vec<Fault>, Error> {
    let mut selected = Vec::new();
    for name in names {
        if name.contains(['*', '?']) {
            let before = selected.len();
            let all = Fault::SCENARIOS.iter().copied();
            selected.extend(all.filter(|fault| crate::matrix_yml::matches_filter(name, fault.name())));
            if selected.len() == before {
                let help = "`pollmatrix faults --list` shows every fault".to_owned();
                return Err(Error::UnknownFault { name: name.clone(), help });
            }
        } else {
            selected.push(find(name)?);
        }
    }
    Ok(Fault::SCENARIOS.iter().copied().filter(|fault| selected.contains(fault)).collect())
}

/// Returns the rate unchanged, if this program can inject errors.
///
/// # Errors
/// This program was built without faults.
pub fn injectable(one_in: NonZeroU32) -> Result<NonZeroU32, Error> {
    if cfg!(feature = "faults") { Ok(one_in) } else { Err(Error::NoFaults) }
}

/// Makes one in `one_in` system calls below the core fail, for the rest of this process.
pub fn inject(seed: Seed, cell: &str, one_in: NonZeroU32) {
    #[cfg(feature = "faults")]
    fd_core::hooks::inject::enable(seed.0, cell, one_in);
    #[cfg(not(feature = "faults"))]
    let _ = (seed, cell, one_in);
}

/// Returns the fault of this name.
pub fn by_name(name: &str) -> Option<Fault> {
    Fault::named(name).filter(|fault| Fault::SCENARIOS.contains(fault))
}

/// Returns the help for the name of a fault that does not exist.
pub fn did_you_mean_fault(name: &str) -> String {
    match metadata::nearest(name, Fault::SCENARIOS.iter().map(|fault| fault.name())) {
        Some(_) => did_you_mean(name, Fault::SCENARIOS.iter().map(|fault| fault.name())),
        None => "`pollmatrix faults --list` shows every fault".into(),
    }
}

/// Switches the fault on for the rest of this process.
///
/// # Safety
/// No code of this process relies on the core for the safety of memory or of descriptors.
pub unsafe fn enable(fault: Fault) {
    #[cfg(feature = "faults")]
    // SAFETY: as above.
    unsafe {
        fd_core::hooks::fault::enable(fault)
    };
    #[cfg(not(feature = "faults"))]
    let _ = fault;
}
