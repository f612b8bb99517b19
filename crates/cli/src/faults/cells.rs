//! Which cells of a scenario are tried, and in which order: a few that differ in everything say more than many that
//! differ in little.

use std::collections::HashSet;

use fd_core::hooks::fault::Fault;
use metadata::Mode;
use runner::plan::Planned;

/// The scenario's cells that can be run here and that the fault concerns, those first that add the most to what the ones
/// before them have: another backend, trigger, number of groups, transport, number of threads.
///
/// As positions in `planned`, of those that are in `of_scenario`.
pub fn order(planned: &[Planned], of_scenario: &[usize], fault: Fault) -> Vec<usize> {
    let concerned: Vec<_> = fault.backends().collect();
    let here = |at: &usize| {
        let cell = &planned[*at];
        cell.unsupported.is_none()
            && (concerned.is_empty() || concerned.contains(&cell.subject.backend.as_str()))
    };
    let mut left: Vec<_> = of_scenario.iter().copied().filter(here).collect();
    let mut seen = HashSet::new();
    let mut ordered = Vec::new();
    loop {
        let best = left.iter().enumerate().max_by_key(|(index, at)| {
            let cell = &planned[**at];
            let new = features(cell).into_iter().filter(|feature| !seen.contains(feature));
            let params = &cell.subject.params;
            // Groups and edges have the most to go wrong; fewer threads are sooner done; then the matrix's order.
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
    let (subject, params) = (&cell.subject, &cell.subject.params);
    [
        subject.backend.clone(),
        params.trigger.to_string(),
        format!("{}g", params.groups),
        params.transport.to_string(),
        format!("{}t", params.threads),
    ]
}

#[cfg(test)]
mod tests {

    use runner::plan::Source;

    use super::*;
    use runner::Environment;

    #[test]
    fn the_first_cells_differ_in_everything_and_none_is_left_out() {
        let environment = Environment::default();
        let source = Source::load(None, &environment).unwrap();
        let all = source.plan(source.target().unwrap(), &Default::default()).unwrap();
        let of = |at: &usize| all[*at].subject.scenario == "migration/idle-takeover";
        let cells: Vec<_> = (0..all.len()).filter(of).collect();
        let ordered = order(&all, &cells, Fault::DoubleClose);
        let first = &all[ordered[0]].subject;
        assert_eq!((first.params.groups, first.params.threads), (2, 2));
        assert_ne!(first.backend, all[ordered[1]].subject.backend);
        assert_eq!(ordered.len(), cells.iter().filter(|at| all[**at].unsupported.is_none()).count());
        let of_poll = order(&all, &cells, Fault::PollNvalSpins);
        assert!(of_poll.iter().all(|at| all[*at].subject.backend == "poll"));
    }
}
