//! The shared side of a runtime: the table, the threads as others see them, and the backend.

pub(crate) mod activity;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod dump;
pub(crate) mod handler;
mod mistakes;
pub(crate) mod ready;
pub(crate) mod task_queue;
pub(crate) mod wake;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicUsize;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{setsockopt, sockopt};

use crate::entry::error::{InsertError, InsertRefused, MoveError, PostError};
use crate::entry::guarded::Guarded;
use crate::entry::owner::OwnerId;
use crate::entry::source::{IntoSource, Source};
use crate::poller::Backend;
use crate::shared::activity::{Activity, ActivityTable};
use crate::shared::clock::Clock;
use crate::shared::context::Context;
use crate::shared::handler::{Handler, Registration};
use crate::shared::ready::RegistrationRef;
use crate::shared::task_queue::TaskQueue;
use crate::shared::wake::Sleep;
use crate::table::{FdHandle, FdTable, Orphan, Pin, Retired, Scheduled};
use crate::words::events::{DeregisterReason, Trigger};
use crate::words::ids::{GroupId, ThreadId, ThreadMask};
use crate::words::state;
use crate::words::sync::{AtomicU64, Ordering, count};

/// The shared FD core of one runtime. Every method may be called from any thread; a call from outside the worker
/// threads counts as one from a foreign group.
pub struct FdCore {
    table: FdTable,
    backend: Box<dyn Backend>,
    /// Per group, per thread.
    threads: Box<[Box<[SharedThread]>]>,
    pub(crate) clock: Clock,
    /// The process whose core this is. A forked child has a copy.
    process: count::AtomicU32,
    /// How many worker threads have been started and have not ended.
    working: count::AtomicU32,
    /// Chooses which of several sleeping threads to wake.
    pick: AtomicUsize,
    totals: Totals,
}

/// One worker thread as the others see it.
#[repr(align(128))]
pub(crate) struct SharedThread {
    pub(crate) sleep: Sleep,
    pub(crate) activity: Activity,
    pub(crate) tasks: TaskQueue,
    /// Signals that were caught and not handled, bit n − 1 for signal n.
    pub(crate) signals: AtomicU64,
}

#[derive(Default)]
struct Totals {
    inserted: count::AtomicU64,
    closed: count::AtomicU64,
    released: count::AtomicU64,
    close_errors: count::AtomicU64,
}

/// What has become of all registrations so far. When nobody is at work, `inserted` is the sum of the others and
/// of the table's [`used`](FdTable::used).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistrationCounts {
    /// Registrations begun.
    pub inserted: u64,
    /// Registrations that ended with their descriptor closed.
    pub closed: u64,
    /// Registrations that ended with their descriptor handed back.
    pub released: u64,
    /// Closes that the kernel refused with `EBADF`: somebody else had closed the number.
    pub close_errors: u64,
}

/// How a descriptor is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsertOptions {
    /// Level or edge, where the backend can.
    pub trigger: Trigger,
    /// The open file has another descriptor elsewhere; see [`RegistrationRef::mark_cloned`].
    pub cloned: bool,
    /// A listener that may be handed to another process.
    pub exported: bool,
    /// Closing resets the connection; see [`RegistrationRef::reset_on_close`].
    pub reset_on_close: bool,
    /// The caller vouches for a source that is in blocking mode: it makes it non-blocking before the first report, or its
    /// handler makes no call that can block. Without this, such a source is refused.
    pub assume_nonblocking: bool,
}

impl InsertOptions {
    /// Whether a handler may use the descriptor: a call that blocks stops its thread.
    fn check_mode(self, fd: BorrowedFd<'_>) -> Result<(), InsertRefused> {
        if self.assume_nonblocking {
            return Ok(());
        }
        let number = fd.as_raw_fd();
        let flags = fcntl(fd, FcntlArg::F_GETFL).map_err(|_| InsertRefused::NotOpen { fd: number })?;
        let is_nonblocking = OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK);
        is_nonblocking.then_some(()).ok_or(InsertRefused::Blocking { fd: number })
    }

    fn flags(self) -> u32 {
        [
            (self.trigger == Trigger::Edge, state::EDGE),
            (self.cloned, state::CLONED),
            (self.exported, state::EXPORTED),
            (self.reset_on_close, state::LINGER_RISK),
        ]
        .into_iter()
        .filter(|(set, _)| *set)
        .fold(0, |flags, (_, bit)| flags | bit)
    }
}

impl FdCore {
    pub(crate) fn new(table: FdTable, backend: Box<dyn Backend>, clock: Clock) -> Self {
        let thread = |_| SharedThread {
            sleep: Sleep::new(),
            activity: Activity::default(),
            tasks: TaskQueue::new(),
            signals: AtomicU64::new(0),
        };
        let threads =
            table.groups().map(|group| (0..table.threads(group).len()).map(thread).collect()).collect();
        Self {
            table,
            backend,
            threads,
            clock,
            process: count::AtomicU32::new(std::process::id()),
            working: count::AtomicU32::new(0),
            pick: AtomicUsize::new(0),
            totals: Totals::default(),
        }
    }

    /// The table.
    pub fn table(&self) -> &FdTable {
        &self.table
    }

    /// The backend.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Every thread of every group, lowest first.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let of =
            |group| self.table.threads(group).indices().filter_map(move |index| ThreadId::new(group, index));
        self.table.groups().flat_map(of)
    }

    pub(crate) fn thread(&self, id: ThreadId) -> Option<&SharedThread> {
        self.threads.get(id.group().index())?.get(id.index())
    }

    /// Registers a source for those of `threads` that `group` has. No thread polls it until a direction is enabled.
    ///
    /// The table owns source and handler until [`RegistrationRef::delete`] or [`RegistrationRef::disown`].
    ///
    /// # Errors
    /// [`InsertError`], with source and handler. A source in blocking mode is refused, see
    /// [`InsertOptions::assume_nonblocking`].
    pub fn insert<I: IntoSource, H: Handler<I::Source>>(
        &self,
        source: I,
        handler: H,
        group: GroupId,
        threads: ThreadMask,
        options: InsertOptions,
    ) -> Result<FdHandle, InsertError<I, H>> {
        if let Err(reason) = options.check_mode(source.as_fd()) {
            return Err(InsertError { reason, source, handler });
        }
        let cloned = if I::IS_CLONED { state::CLONED } else { 0 };
        self.register(source.into_source(), handler, group, threads, options.flags() | cloned).map_err(
            |InsertError { reason, source, handler }| InsertError {
                reason,
                source: I::from_source(source),
                handler,
            },
        )
    }

    /// [`FdCore::insert`] with the state bits as they are.
    pub(crate) fn register<S: Source, H: Handler<S>>(
        &self,
        source: S,
        handler: H,
        group: GroupId,
        threads: ThreadMask,
        flags: u32,
    ) -> Result<FdHandle, InsertError<S, H>> {
        let fd = source.as_fd().as_raw_fd();
        let owner = Box::new(Registration { handler, source });
        match self.table.insert(fd, owner, group, threads, flags) {
            Ok(handle) => {
                self.totals.inserted.fetch_add(1, Ordering::Relaxed);
                Ok(handle)
            }
            Err((reason, owner)) => {
                let Registration { handler, source } = *owner;
                Err(InsertError { reason, source, handler })
            }
        }
    }

    /// The calls on one descriptor, from outside the worker threads.
    pub fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        RegistrationRef { core: self, caller: None, handle, entered: None }
    }

    /// Runs `task` on a worker thread. Tasks of one caller run in order. A task that its thread does not come to before
    /// it ends is dropped then.
    ///
    /// # Errors
    /// [`PostError`]; the task has been dropped.
    pub fn post(
        &self,
        thread: ThreadId,
        task: impl FnOnce(&Context) + Send + 'static,
    ) -> Result<(), PostError> {
        let shared = self.thread(thread).ok_or(PostError::NoThread { thread })?;
        fault!(WakeBeforePost => shared.sleep.wake());
        // Pair: sleep. Published before the wake-up (L2): the sleeper looks at this after it has announced its sleep.
        let posted = shared.tasks.push(Box::new(task));
        unless!(WakeBeforePost => shared.sleep.wake());
        posted.map_err(|_| PostError::Ended { thread })
    }

    /// Makes a worker thread go round its loop. Async-signal-safe.
    pub fn wake(&self, thread: ThreadId) {
        if let Some(shared) = self.thread(thread) {
            shared.sleep.wake();
        }
    }

    /// Makes those threads of `group` go round their loops.
    pub(crate) fn wake_all(&self, group: GroupId, threads: ThreadMask) {
        let threads = threads.indices().filter_map(|index| ThreadId::new(group, index));
        threads.for_each(|thread| self.wake(thread));
    }

    /// Whether the worker threads have been told to stop.
    pub fn is_stopping(&self) -> bool {
        self.table.is_closed()
    }

    /// Tells the worker threads to stop, without waiting for them. Nothing can be registered any more. The last thread to
    /// leave ends the registrations that are left.
    pub fn request_stop(&self) {
        let wake = || self.threads().for_each(|thread| self.wake(thread));
        fault!(WakeBeforeStop => wake());
        // Pair: sleep. Published before the wake-up (L2, L8).
        self.table.close();
        unless!(StopWithoutWake, WakeBeforeStop => wake());
    }

    /// Counts a worker thread that is about to start.
    pub(crate) fn begin_work(&self) {
        self.working.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a worker thread that ends. Returns whether it is the last one, which sees what the others did.
    pub(crate) fn end_work(&self) -> bool {
        // Pair: end.
        self.working.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether this process is a forked child that has not made the core its own.
    pub(crate) fn is_inherited(&self) -> bool {
        self.process.load(Ordering::Relaxed) != std::process::id()
    }

    /// Makes the core this forked child's own: what the threads that do not exist here held or had begun is undone or
    /// finished. `me` is the worker thread that goes on, if one does.
    ///
    /// To be called by the only thread of the process. The caller says what becomes of a panic of a handler that ended.
    pub(crate) fn adopt(&self, me: Option<ThreadId>) -> Guarded {
        self.process.store(std::process::id(), Ordering::Relaxed);
        self.working.store(u32::from(me.is_some()), Ordering::Relaxed);
        for thread in self.threads().filter(|thread| Some(*thread) != me) {
            self.table.disable(thread);
            if let Some(shared) = self.thread(thread) {
                shared.sleep.silence();
                // Not dropped: what a task holds may wait for a thread that does not exist here.
                std::mem::forget(shared.tasks.close());
            }
        }
        let mut guarded = Guarded::default();
        fault!(ForkKeepsUsers => return guarded);
        let ended = self.table.after_fork(me, |fd, group, recv, send, reason| {
            self.backend.forget(fd, group, recv, send, reason);
        });
        ended.into_iter().for_each(|retired| guarded.run(|| self.end(retired)));
        guarded
    }

    /// To be called before the process forks: every descriptor's open file will have a second owner, so none of
    /// them is forgotten by the kernel when it is closed on one side. In a child that goes on with a worker's
    /// loop, call [`Context::forked`] too.
    pub fn before_fork(&self) {
        for pin in self.table.pin_each() {
            // Pair: drain. The end of the registration reads it.
            pin.entry().state.fetch_or(state::CLONED, Ordering::AcqRel);
        }
    }

    /// The counters of every thread, printable as `show activity`.
    pub fn activity(&self) -> ActivityTable {
        let snapshot = |id| self.thread(id).map(|shared| (id, shared.activity.snapshot()));
        ActivityTable(self.threads().filter_map(snapshot).collect())
    }

    /// What has become of all registrations.
    pub fn registration_counts(&self) -> RegistrationCounts {
        // No pair: counters.
        let load = |total: &count::AtomicU64| total.load(Ordering::Acquire);
        RegistrationCounts {
            inserted: load(&self.totals.inserted),
            closed: load(&self.totals.closed),
            released: load(&self.totals.released),
            close_errors: load(&self.totals.close_errors),
        }
    }

    /// Publishes an update, and sees to it that some allowed thread applies it.
    pub(crate) fn schedule(&self, pin: &Pin<'_>, caller: Option<&Context>) {
        let pick = self.pick.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match pin.schedule(caller.map(Context::id), pick) {
            Scheduled::Nothing => {}
            Scheduled::Private => {
                if let Some(context) = caller {
                    context.push_update(pin.handle(), false);
                }
            }
            Scheduled::Wake(thread) => self.wake(thread),
        }
    }

    pub(crate) fn relocate(
        &self,
        handle: FdHandle,
        target: ThreadId,
        expected: Option<OwnerId>,
    ) -> Result<(), MoveError> {
        let shared_interest = !self.backend.capabilities().kernel_state;
        self.table.relocate(handle, target, expected, shared_interest, |fd, group, recv, send, reason| {
            self.forget(fd, group, recv, send, reason);
        })
    }

    /// Takes a descriptor away from the pollers of those threads, which know it.
    fn forget(
        &self,
        fd: RawFd,
        group: GroupId,
        recv: ThreadMask,
        send: ThreadMask,
        reason: DeregisterReason,
    ) {
        self.backend.forget(fd, group, recv, send, reason);
        if !self.backend.capabilities().kernel_state {
            self.end_waits(group, recv.or(send));
        }
    }

    /// Makes threads that sleep look again at what they wait for. A thread in poll(2) or select(2) holds the open
    /// files that it waits for: without this, a close by another thread would reach the peer when that wait ends, up
    /// to a minute later.
    pub(crate) fn end_waits(&self, group: GroupId, threads: ThreadMask) {
        unless!(SleepersKeepFiles => self.wake_all(group, threads));
    }

    /// Ends a registration as its last user.
    pub(crate) fn finish(&self, orphan: Orphan<'_>, caller: Option<&Context>) {
        let caller_id = caller.map(Context::id);
        let retired = orphan.retire(|fd, group, recv, send, reason| {
            // The close itself ends what this thread's own poller holds: it is not in a wait.
            let own = caller_id.filter(|id| id.group() == group && reason == DeregisterReason::Close);
            let own = own.map_or(ThreadMask::NONE, ThreadId::mask);
            self.forget(fd, group, recv.without(own), send.without(own), reason);
        });
        if let Some(context) = caller {
            context.activity().fd_close.bump();
        }
        self.end(retired);
    }

    /// Closes the source of a registration that has ended, or returns it, and drops its handler.
    fn end(&self, retired: Retired) {
        let Retired { fd: number, owner, state } = retired;
        let is_disowned = state & state::DISOWN != 0;
        fault!(DisownCloses: is_disowned => false);
        if is_disowned {
            // No pair: a counter.
            self.totals.released.fetch_add(1, Ordering::AcqRel);
            return owner.release().resume();
        }
        // The handler last: it may call back into the table, for the same number even.
        owner.close(&mut |fd| {
            invariant!(fd.as_raw_fd() == number, "the source of fd {number} becomes {fd:?}");
            if state & state::LINGER_RISK != 0 {
                let linger = nix::libc::linger { l_onoff: 1, l_linger: 0 };
                // Not a socket, or not connected: then there is nothing to reset.
                let _ = setsockopt(&fd.as_fd(), sockopt::Linger, &linger);
            }
            self.close(fd);
        });
    }

    /// The one place that closes.
    fn close(&self, fd: OwnedFd) {
        fault!(LeakOnClose => return std::mem::forget(fd));
        let number: RawFd = fd.as_raw_fd();
        // No pair: a counter. Counted before the close: a program that sees the peer's end of file sees the count.
        self.totals.closed.fetch_add(1, Ordering::AcqRel);
        if cfg!(any(loom, shuttle)) {
            // A model's numbers are not open; its handlers notice the end.
            let _ = fd.into_raw_fd();
            return;
        }
        if nix::unistd::close(fd).is_err() {
            // No pair: a counter.
            self.totals.close_errors.fetch_add(1, Ordering::AcqRel);
        }
        checkpoint!(Closed, number);
        fault!(DoubleClose => _ = nix::unistd::close(number));
    }

    /// Ends every registration and refuses every task, of a core that is stopping and has no worker thread left. What the
    /// handlers and tasks panic with while they end is left to the caller: nothing else is left out for it.
    pub(crate) fn clear(&self) -> Guarded {
        let mut guarded = Guarded::default();
        for pin in self.table.pin_all() {
            if let Ok(Some(orphan)) = pin.delete(false) {
                guarded.run(|| self.finish(orphan, None));
            }
        }
        for shared in self.threads.iter().flatten() {
            guarded.merge(shared.end_tasks());
        }
        guarded
    }
}

impl SharedThread {
    /// Refuses tasks from now on, and drops those that nobody has taken.
    pub(crate) fn end_tasks(&self) -> Guarded {
        let mut guarded = Guarded::default();
        fault!(TasksOutliveStop => return guarded);
        self.tasks.close().into_iter().for_each(|task| guarded.run(|| drop(task)));
        guarded
    }
}

impl std::fmt::Debug for FdCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FdCore")
            .field("backend", &self.backend.name())
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl Drop for FdCore {
    fn drop(&mut self) {
        // Of a runtime that was never started, or whose threads could not be.
        self.table.close();
        let _ = self.clear();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::poller::Capabilities;
    use crate::testing::{context, core, group, handler, insert, open, thread};

    /// Bugs 1 and 76: closing a number ends what the closing thread's own poller holds, unless the open file lives on.
    #[test]
    fn a_closing_thread_leaves_out_its_own_poller_only_if_the_close_ends_it() {
        let both = (group(1), 0b11, 0b01);
        let own_left_out = (group(1), 0b10, 0b00);
        for (cloned, disown, (group, recv, send), reason) in [
            (false, false, own_left_out, DeregisterReason::Close),
            (true, false, both, DeregisterReason::CloseCloned),
            (false, true, both, DeregisterReason::StaysOpen),
            (true, true, both, DeregisterReason::StaysOpen),
        ] {
            let (core, forgotten) = core(Capabilities::ALL, Clock::System);
            let context = Context::new(Arc::clone(&core), thread(1, 0));
            let options = InsertOptions { cloned, ..InsertOptions::default() };
            let handle = core.insert(open(), handler(), group, ThreadMask::ALL, options).unwrap();
            let pin = core.table().pin(handle).unwrap();
            pin.polled().set(0b11, true, false);
            pin.polled().set(0b01, true, true);
            drop(pin);
            let fd = context.registration(handle);
            if disown { fd.disown() } else { fd.delete() }.unwrap();
            assert_eq!(*forgotten.lock().unwrap(), [(group, recv, send, reason)], "cloned {cloned}");
        }
    }

    #[test]
    fn a_close_by_another_group_or_by_no_thread_leaves_out_no_poller() {
        for caller in [None, Some(thread(2, 0))] {
            let (core, forgotten) = core(Capabilities::ALL, Clock::System);
            let handle =
                core.insert(open(), handler(), group(1), ThreadMask::ALL, InsertOptions::default()).unwrap();
            core.table().pin(handle).unwrap().polled().set(0b01, true, true);
            let context = caller.map(|id| Context::new(Arc::clone(&core), id));
            context
                .map_or_else(
                    || core.registration(handle).delete(),
                    |context| context.registration(handle).delete(),
                )
                .unwrap();
            assert_eq!(*forgotten.lock().unwrap(), [(group(1), 1, 1, DeregisterReason::Close)]);
        }
    }

    /// Every flag of the options is its bit of the state.
    #[test]
    fn the_options_are_state_bits() {
        let options = |index| InsertOptions {
            trigger: if index == 0 { Trigger::Edge } else { Trigger::Level },
            cloned: index == 1,
            exported: index == 2,
            reset_on_close: index == 3,
            assume_nonblocking: index == 4,
        };
        let bits: Vec<_> = (0..6).map(|index| options(index).flags()).collect();
        assert_eq!(bits, [0x0008_0000, 0x0002_0000, 0x0010_0000, 0x0001_0000, 0, 0]);
    }

    /// B8: nothing is registered any more once the stop is requested, and what was registered is ended.
    #[test]
    fn a_stopping_core_refuses_registrations_and_gives_everything_back() {
        let context = context(Capabilities::ALL, &crate::testing::Time::new());
        let core = context.core();
        let handle = insert(&context);
        core.request_stop();
        let refused =
            core.insert(open(), handler(), group(1), ThreadMask::ALL, InsertOptions::default()).unwrap_err();
        assert_eq!(refused.reason, crate::entry::error::InsertRefused::Stopping);
        assert!(
            nix::fcntl::fcntl(&refused.source, nix::fcntl::FcntlArg::F_GETFD).is_ok(),
            "it comes back open"
        );
        assert_eq!(core.table().used(), 1);
        assert!(core.clear().panic().is_none());
        assert!(core.entry(handle).is_err());
        assert_eq!((core.table().used(), core.registration_counts().closed), (0, 1));
    }
}
