//! The order in which the cells of a scenario are tried. The first few differ in as many parameters as
//! possible, because similar cells kill the same faults.

use std::collections::HashSet;

use fd_core::hooks::fault::Fault;
use matrix::plan::Planned;
use metadata::Mode;

/// Orders the cells of a scenario that this machine can run and that the fault concerns. Each next cell is
/// the one that adds the most new values: of backend, trigger, number of groups, transport, and number of
/// threads.
///
/// Takes the scenario's cells as positions in `planned`, and returns them as such.
pub fn order(planned: &[Planned], of_scenario: &[usize], fault: Fault) -> Vec<usize> {
    let here = |at: &usize| {
        let cell = &planned[*at];
        cell.unsupported.is_none() && fault.concerns(&cell.spec.backend)
    };
    let mut left: Vec<_> = of_scenario.iter().copied().filter(here).collect();
    let mut seen = HashSet::new();
    let mut ordered = Vec::new();
    loop {
        let best = left.iter().enumerate().max_by_key(|(index, at)| {
            let cell = &planned[**at];
            let new = features(cell).into_iter().filter(|feature| !seen.contains(feature));
            let params = &cell.spec.params;
            // Ties: more groups and edge triggers first, which find most faults, then fewer threads, which
            // are faster, then the order of the matrix.
            let edge = params.trigger == Mode::Edge;
            (new.count(), params.groups, edge, std::cmp::Reverse((params.threads, *index)))
        });
        let Some((index, _)) = best else { return ordered };
        let at = left.remove(index);
        seen.extend(features(&planned[at]));
        ordered.push(at);
    }
}

fn features(cell: &Planned) -> [String; 5] {
    let (spec, params) = (&cell.spec, &cell.spec.params);
    [
        spec.backend.clone(),
        params.trigger.to_string(),
        format!("{}g", params.groups),
        params.transport.to_string(),
        format!("{}t", params.threads),
    ]
}

#[cfg(test)]
mod tests {
    use crate::lab;
    use matrix::plan::Source;

    use super::*;

    #[test]
    fn the_first_cells_differ_in_all_parameters_and_no_cell_is_omitted() {
        let environment = lab::environment();
        let source = Source::load(None, &environment).unwrap();
        let all = source.plan(source.target().unwrap(), &Default::default()).unwrap();
        let of = |at: &usize| all[*at].spec.scenario == "migration/idle-takeover";
        let cells: Vec<_> = (0..all.len()).filter(of).collect();
        let ordered = order(&all, &cells, Fault::DoubleClose);
        let first = &all[ordered[0]].spec;
        assert_eq!((first.params.groups, first.params.threads), (2, 2));
        assert_ne!(first.backend, all[ordered[1]].spec.backend);
        assert_eq!(ordered.len(), cells.iter().filter(|at| all[**at].unsupported.is_none()).count());
        let of_poll = order(&all, &cells, Fault::PollNvalSpins);
        assert!(of_poll.iter().all(|at| all[*at].spec.backend == "poll"));
    }
}
