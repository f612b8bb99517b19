//! A dump shows the descriptors that the runtime wakes its threads with. Their handles worked like any other: a delete of
//! one, in safe code, made tasks and the stop hang.

use fd_core::{FdHandle, OwnerId, state};
use metadata::{Axes, Layer, Mode, Transport};

use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/internal-handles",
    title: "What a dump shows of the runtime's own descriptors can be looked at, and nothing can be done with it",
    layer: Layer::Contract,
    clauses: &["L2", "L8", "core 12"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let lab = Lab::start(trial)?;
    let own: Vec<_> =
        lab.core().entries().0.into_iter().filter(|entry| entry.state & state::INTERNAL != 0).collect();
    if own.is_empty() {
        lab.finish(trial, &[])?;
        return Err(Failure::Unsupported("this backend wakes its threads without a descriptor".into()));
    }
    for entry in &own {
        from_outside(trial, &lab, entry.handle);
        from_inside(trial, &lab, entry.handle, entry.owner)?;
    }
    trial.all_hold()?;
    let left = lab.core().entries().0.iter().filter(|entry| entry.state & state::INTERNAL != 0).count();
    trial.check_eq("the runtime's own descriptors", own.len(), left, "core 12");
    for thread in lab.threads() {
        let ran_on = lab.on(thread, |context| context.id())?;
        trial.check_eq("a task runs on", thread, ran_on, "L2");
    }
    lab.finish(trial, &[])
}

fn refused(trial: &mut Trial, what: &str, refused: bool) {
    trial.check_eq(format!("{what} of the runtime's own descriptor is refused"), true, refused, "core 12");
}

fn from_outside(trial: &mut Trial, lab: &Lab, handle: FdHandle) {
    let (core, fd) = (lab.core(), lab.core().registration(handle));
    refused(trial, "an entry", core.entry(handle).is_err());
    refused(trial, "stop_recv", fd.stop_recv().is_err());
    refused(trial, "want_recv", fd.want_recv().is_err());
    refused(trial, "want_send", fd.want_send().is_err());
    refused(trial, "stop_both", fd.stop_both().is_err());
    refused(trial, "mark_cloned", fd.mark_cloned().is_err());
    refused(trial, "reset_on_close", fd.reset_on_close().is_err());
    refused(trial, "duplicate", fd.duplicate().is_err());
    refused(trial, "migrate_on", lab.threads().into_iter().all(|thread| fd.migrate_on(thread).is_err()));
    refused(trial, "disown", fd.disown().is_err());
    refused(trial, "delete", fd.delete().is_err());
}

fn from_inside(trial: &mut Trial, lab: &Lab, handle: FdHandle, owner: OwnerId) -> Result<(), Failure> {
    for thread in lab.threads() {
        let answers = lab.on(thread, move |context| {
            [
                ("takeover", context.takeover(handle, owner).is_err()),
                ("enter", context.enter(handle, |_| ()).is_err()),
                ("stop_recv", context.registration(handle).stop_recv().is_err()),
                ("migrate_on", context.registration(handle).migrate_on(context.id()).is_err()),
                ("delete", context.registration(handle).delete().is_err()),
            ]
        })?;
        answers.into_iter().for_each(|(what, answer)| refused(trial, what, answer));
    }
    Ok(())
}
