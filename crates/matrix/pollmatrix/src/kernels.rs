//! Results by the kernel that gave them, instead of by target.

use std::collections::BTreeMap;
use std::path::Path;

use metadata::{PATH_NAME_HELP, PathNames, Results, Run};
use raw::expectations::Version;

use crate::error::Error;

/// Names each target after the kernel of its run: `linux-6.1.192-x86_64`.
pub fn by_kernel(path: &Path, mut results: Results) -> Result<Results, Error> {
    let names = names(path, &results)?;
    rename(&mut results, &names);
    // The names have parts that were not parts of a path before.
    results.check_path_names().map_err(|error| Error::Unfit {
        path: path.to_path_buf(),
        why: error.to_string(),
        help: PATH_NAME_HELP,
    })?;
    Ok(results)
}

/// Names targets of two reports after the change of their kernel, and removes those whose kernel did not
/// change. If each report has one target, these two are compared.
pub fn changes(
    (one, mut old): (&Path, Results),
    (other, mut new): (&Path, Results),
) -> Result<(Results, Results), Error> {
    let (before, after) = (names(one, &old)?, names(other, &new)?);
    let pair = |from: &(&String, &String), to: &(&String, &String)| match from.1 == to.1 {
        true => from.1.clone(),
        false => format!("{} → {}", from.1, to.1),
    };
    let (mut old_names, mut new_names) = (Names::new(), Names::new());
    if let (1, Some(from), 1, Some(to)) =
        (before.len(), before.iter().next(), after.len(), after.iter().next())
    {
        let name = pair(&from, &to);
        old_names.insert(from.0.clone(), name.clone());
        new_names.insert(to.0.clone(), name);
    } else {
        for from in &before {
            if let Some(to) = after.get_key_value(from.0).filter(|to| to.1 != from.1) {
                let name = format!("{}, {}", from.0, pair(&from, &to));
                old_names.insert(from.0.clone(), name.clone());
                new_names.insert(from.0.clone(), name);
            }
        }
    }
    for (results, names) in [(&mut old, &old_names), (&mut new, &new_names)] {
        results.runs.retain(|run| names.contains_key(&run.target));
        results.cells.retain(|cell| names.contains_key(&cell.target));
        results.not_run.clear();
        rename(results, names);
    }
    Ok((old, new))
}

/// New names of targets.
type Names = BTreeMap<String, String>;

/// Returns the kernel of each target.
fn names(path: &Path, results: &Results) -> Result<Names, Error> {
    let unfit = |why: String, help| Error::Unfit { path: path.to_path_buf(), why, help };
    let mut names = Names::new();
    for run in &results.runs {
        let name = name(run).ok_or_else(|| {
            let why = format!("the kernel of {} has no version: {} {}", run.target, run.os, run.kernel);
            unfit(why, "omit --by-kernel, or run it again with this pollmatrix")
        })?;
        if let Some(other) = names.insert(run.target.clone(), name.clone())
            && other != name
        {
            let why = format!("{} was run on {other} and on {name}", run.target);
            return Err(unfit(why, "give the results of each run instead of merged ones"));
        }
    }
    Ok(names)
}

fn rename(results: &mut Results, names: &Names) {
    for run in &mut results.runs {
        run.target.clone_from(&names[&run.target]);
    }
    for cell in &mut results.cells {
        // A target without a run keeps its name.
        if let Some(name) = names.get(&cell.target) {
            cell.target.clone_from(name);
        }
    }
    for cost in &mut results.costs {
        if let Some(name) = names.get(&cost.target) {
            cost.target.clone_from(name);
        }
    }
    results.cells.sort_by(|one, other| (&one.id, &one.target).cmp(&(&other.id, &other.target)));
    results.runs.sort_by(|one, other| one.target.cmp(&other.target));
}

/// Returns the kernel's name, if its version is known.
fn name(run: &Run) -> Option<String> {
    let os = run.system()?;
    Some(format!("{os}-{}-{}", Version::of_release(os, &run.kernel)?, run.arch))
}
