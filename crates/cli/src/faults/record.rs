//! What a full run has proven, one line per pair of fault and cell, for `pollmatrix faults --quick`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use fd_core::fault::Fault;

use super::kills::{Kill, Kills, Proof};
use super::{by_name, did_you_mean_fault};
use crate::error::Error;
use crate::output;
use crate::provenance::OS;

/// Where it is in the source tree.
const FILE: &str = "crates/cli/kills.tsv";
/// The record that was there when this program was built.
const BUILT_IN: &str = include_str!("../../kills.tsv");

const HEADER: &str = "\
# Which cell is known to kill which fault. `pollmatrix faults --record` writes this file from a run of everything, and
# `pollmatrix faults --quick` verifies it: every fault is killed, and every contract scenario kills one.
# hangs: it is killed by the end of its time.
# os\tfault\tcell\thow
";

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub os: String,
    pub fault: Fault,
    pub cell: String,
    /// Whether it is the end of its time that kills it.
    pub hangs: bool,
}

/// Reads `file`, or what is built in. Names that no longer exist are errors, those of other systems' rows too.
pub fn read(file: Option<&Path>, kills: &Kills) -> Result<Vec<Row>, Error> {
    match file {
        None => parse(Path::new(FILE), BUILT_IN, kills),
        Some(path) => {
            let help = "give a record that `pollmatrix faults --record` has written";
            let text = std::fs::read_to_string(path);
            let text =
                text.map_err(|source| Error::Io { action: "read", path: path.into(), source, help })?;
            parse(path, &text, kills)
        }
    }
}

fn parse(path: &Path, text: &str, kills: &Kills) -> Result<Vec<Row>, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|(number, line)| {
            row(line, kills).map_err(|(what, help)| Error::Record {
                path: path.to_path_buf(),
                line: number + 1,
                what,
                help,
            })
        })
        .collect()
}

fn row(line: &str, kills: &Kills) -> Result<Row, (String, String)> {
    let again = "`pollmatrix faults --record` writes it anew";
    let fields: Vec<_> = line.split('\t').collect();
    let &[os, fault, cell, how] = fields.as_slice() else {
        return Err(("it has not the four fields os, fault, cell and how".into(), again.into()));
    };
    let hangs = match how {
        "hangs" => true,
        "fails" => false,
        _ => return Err((format!("'{how}' is neither 'fails' nor 'hangs'"), again.into())),
    };
    let known = by_name(fault);
    let known = known.ok_or_else(|| {
        (format!("there is no fault '{fault}'"), format!("{} {again}", did_you_mean_fault(fault)))
    })?;
    if kills.planned(cell).is_none() {
        let help = match matrix::nearest(cell, kills.ids()) {
            Some(near) => format!("did you mean '{near}'? {again}"),
            None => again.to_owned(),
        };
        return Err((format!("there is no cell '{cell}'"), help));
    }
    Ok(Row { os: os.to_owned(), fault: known, cell: cell.to_owned(), hangs })
}

/// Writes what is proven, and keeps what other systems have recorded. Returns what to say.
pub fn write(root: &Path, kills: &Kills) -> Result<String, Error> {
    let path: PathBuf = root.join(FILE);
    let mut rows = Vec::new();
    // What cannot be read, or names what there is no more, is left out.
    for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
        rows.extend(row(line, kills).ok().filter(|row| row.os != OS));
    }
    let proven = |(fault, kill): (Fault, &Kill)| Row {
        os: OS.to_owned(),
        fault,
        cell: kill.cell.clone(),
        hangs: kill.out_of_time,
    };
    rows.extend(kills.kills().filter(|(_, kill)| kill.proof == Proof::Always).map(proven));
    let mut text = HEADER.to_owned();
    for Row { os, fault, cell, hangs } in &rows {
        let how = if *hangs { "hangs" } else { "fails" };
        let _ = writeln!(text, "{os}\t{}\t{cell}\t{how}", fault.name());
    }
    output::write_file(&path, &text)?;
    Ok(format!("wrote: {FILE}, {} kills; they count from the next build on", rows.len()))
}
