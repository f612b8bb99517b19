//! A listener is registered before the threads start.
//!
//! HAProxy enables its listeners while threads start, one after the other; a thread registers the table's
//! descriptors when its own poller is created (`reregister_all`). The effect of an earlier start must not
//! depend on the thread that was first (bugs 8, 29 and 31).

use fd_core::FdCore;
use fd_core::ids::ThreadMask;

use super::acceptor::Acceptor;
use super::calls::{Answer, call, greeting};
use crate::prelude::*;
use crate::transport::Listener;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/thread-starts-late",
    title: "Every thread polls a listener that was started before the threads, from its first iteration on",
    layer: Layer::Contract,
    clauses: &["S11", "L1", "L3", "bug 8", "bug 31"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let directory = tempfile::tempdir()?;
    let transport = test.params.transport;
    let acceptor = Acceptor::new();
    let (gate, hold) = acceptor.hold();
    let options = InsertOptions { trigger: test.trigger, ..InsertOptions::default() };
    let mut started = None;
    let boot = |core: &Arc<FdCore>| {
        let listener = Listener::new(transport, directory.path())?;
        let client = listener.address.connect()?;
        let group = core.table().groups().next().ok_or_else(|| Failure::broken("there is no group"))?;
        let handle = core.insert(listener.fd, acceptor.clone(), group, ThreadMask::ALL, options);
        let handle = handle?;
        core.registration(handle).want_recv()?;
        started = Some((handle, listener.address, client));
        Ok(())
    };
    let mut harness = Harness::start_with(test, |builder| builder, boot)?;
    let (handle, address, client) = started.ok_or_else(|| Failure::broken("nothing was inserted"))?;
    let entry =
        |harness: &Harness| harness.core().entry(handle).map_err(|stale| Failure::Wrong(stale.to_string()));

    let sharing_mask = entry(&harness)?.thread_mask;
    harness.wait_until("every thread of the group reports the client that connected before", || {
        gate.arrived() == sharing_mask.len()
    })?;
    drop(hold);
    let first = greeting(client)?;
    test.check_debug("the client that connected before", Answer::Greeted(0), first, "L1");
    harness.wait_until_polled(handle, sharing_mask)?;
    harness.fence_all()?;
    let entry = entry(&harness)?;
    test.check_eq("pollers that have it", sharing_mask.bits(), entry.polled_recv.bits(), "S11");
    test.check_eq("pending updates", 0, entry.update_mask.bits(), "L3");
    for thread in harness.threads() {
        let expected = u64::from(thread.group() == entry.group);
        let what = format!("handler calls of thread {thread}");
        test.check_eq(what, expected, acceptor.tally(thread).runs, "S3");
    }
    let second = call(&address)?;
    test.check_debug("a client that connects afterwards", Answer::Greeted(1), second, "L1");
    harness.finish(test, &[])
}
