//! A dump shows the runtime's own wake descriptors. Their handles used to work like any other: a delete of
//! one, in safe code, made tasks and the stop hang.

use fd_core::OwnerId;

use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/internal-handles",
    title: "Every call with the handle of one of the runtime's own descriptors is refused",
    layer: Layer::Contract,
    clauses: &["L2", "L8", "core 12"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let harness = Harness::start(test)?;
    let own: Vec<_> = harness
        .core()
        .entries()
        .0
        .into_iter()
        .filter(|entry| entry.state.contains(State::INTERNAL))
        .collect();
    if own.is_empty() {
        harness.finish(test, &[])?;
        return Err(Failure::Unsupported("this backend wakes its threads without a descriptor".into()));
    }
    for entry in &own {
        from_outside(test, &harness, entry.handle);
        from_inside(test, &harness, entry.handle, entry.owner)?;
    }
    test.stop_if_failed()?;
    let left =
        harness.core().entries().0.iter().filter(|entry| entry.state.contains(State::INTERNAL)).count();
    test.check_eq("the runtime's own descriptors", own.len(), left, "core 12");
    sleepers.wait(&harness)?;
    for thread in harness.threads() {
        let ran_on = harness.on(thread, |context| context.id())?;
        test.check_eq("a task runs on", thread, ran_on, "L2");
    }
    harness.finish(test, &[])
}

fn refused(test: &mut TestContext, what: &str, refused: bool) {
    test.check_eq(format!("{what} of the runtime's own descriptor is refused"), true, refused, "core 12");
}

fn from_outside(test: &mut TestContext, harness: &Harness, handle: FdHandle) {
    let (core, fd) = (harness.core(), harness.registration(handle));
    refused(test, "an entry", core.entry(handle).is_err());
    refused(test, "stop_recv", fd.stop_recv().is_err());
    refused(test, "want_recv", fd.want_recv().is_err());
    refused(test, "want_send", fd.want_send().is_err());
    refused(test, "stop_both", fd.stop_both().is_err());
    refused(test, "mark_cloned", fd.mark_cloned().is_err());
    refused(test, "reset_on_close", fd.reset_on_close().is_err());
    refused(test, "duplicate", fd.duplicate().is_err());
    refused(test, "migrate_on", harness.threads().into_iter().all(|thread| fd.migrate_on(thread).is_err()));
    refused(test, "disown", fd.disown().is_err());
    refused(test, "delete", fd.delete().is_err());
}

fn from_inside(test: &mut TestContext, harness: &Harness, handle: FdHandle, owner: OwnerId) -> Result {
    for thread in harness.threads() {
        let answers = harness.on(thread, move |context| {
            [
                ("takeover", context.takeover(handle, owner).is_err()),
                ("enter", context.enter(handle, |_: &ReadyGuard<'_>| ()).is_err()),
                ("stop_recv", context.registration(handle).stop_recv().is_err()),
                ("migrate_on", context.registration(handle).migrate_on(context.id()).is_err()),
                ("delete", context.registration(handle).delete().is_err()),
            ]
        })?;
        answers.into_iter().for_each(|(what, answer)| refused(test, what, answer));
    }
    Ok(())
}
