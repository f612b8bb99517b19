//! Records what each thread does, for the timeline of a failed cell.
//!
//! A race must not depend on whether it is recorded. So an event costs one look at the clock and a few plain
//! stores into the thread's own lane: no lock, no read-modify-write, and no word that two threads write. Each
//! lane keeps its last events. A look at the clock still takes tens of nanoseconds, and events that are
//! closer to each other than the clock's resolution have no certain order.

use std::cell::{Cell, OnceCell};
use std::os::fd::RawFd;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use fd_core::hooks::checkpoint::{self, Point};
use fd_core::ids::ThreadId;
use metadata::{Act, Event, Lane, Timeline};

use crate::mutex::unpoisoned;

/// The number of threads that can be recorded at the same time.
const LANES: usize = 96;
/// The number of events that a lane keeps: more than a timeline has, because the oldest may be overwritten
/// while it is read.
const KEPT: usize = Timeline::MOST + 56;
/// The number of different texts that are kept.
const TEXTS: usize = 512;
/// The greatest length of a text, in characters.
const LONGEST: usize = 120;

static ON: AtomicBool = AtomicBool::new(false);
static BEGAN: OnceLock<Instant> = OnceLock::new();
static THREADS: [ThreadLane; LANES] = [const { ThreadLane::new() }; LANES];
static DETAILS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The descriptors of the harness's fences, whose events would push everything else out of the lanes. Only
/// that a fence has passed is recorded. A bit for each of the first numbers.
static OWN: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// The events of one thread at a time. The next thread of the same name continues it.
struct ThreadLane {
    is_taken: AtomicBool,
    /// The name of the last thread.
    name: Mutex<String>,
    /// The number of events that were recorded, without those that became part of another one.
    recorded: AtomicUsize,
    /// Written by the thread alone. An event is published by `recorded`.
    slots: [Slot; KEPT],
}

/// One event. Two threads may look at it at once, so its words are atomic; no order between them matters.
struct Slot {
    /// Nanoseconds since the beginning, act, kind of the detail.
    time: AtomicU64,
    /// The descriptor or the thread, and the index of the detail or the number of times.
    about: AtomicU64,
}

/// What an event is about.
#[derive(Clone, Copy)]
enum About {
    Nothing,
    Descriptor(RawFd),
    Thread(u32),
    /// A checkpoint by its position in [`Point::ALL`], and a descriptor.
    Point(u32, RawFd),
    /// A text of [`DETAILS`], and a descriptor.
    Text(u32, RawFd),
}

impl ThreadLane {
    const fn new() -> Self {
        let slots = [const { Slot { time: AtomicU64::new(0), about: AtomicU64::new(0) } }; KEPT];
        Self {
            is_taken: AtomicBool::new(false),
            name: Mutex::new(String::new()),
            recorded: AtomicUsize::new(0),
            slots,
        }
    }

    fn take(&self) -> bool {
        self.is_taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn slot(&self, index: usize) -> &Slot {
        &self.slots[index % KEPT]
    }

    /// The act of the event that was recorded `back` events ago.
    fn act(&self, recorded: usize, back: usize) -> Option<u8> {
        let index = recorded.checked_sub(back)?;
        Some((self.slot(index).time.load(Ordering::Relaxed) >> 8) as u8)
    }

    /// Returns how many events ago the thread did the same, with nothing between them that says more: a wait
    /// that ended, a wait with one event of a fence, a number that a walk through the table found free.
    fn repeated(&self, recorded: usize, act: Act) -> Option<usize> {
        let before = |back, act: Act| self.act(recorded, back) == Some(act as u8);
        let slept_once = || {
            let times = self.slot(recorded - 1).about.load(Ordering::Relaxed) as u32;
            before(1, Act::Awake) && before(2, Act::Wait) && times == 1
        };
        match act {
            Act::Awake if before(1, Act::Wait) && before(2, Act::Awake) && before(3, Act::Wait) => Some(2),
            Act::Fenced if before(3, Act::Fenced) && slept_once() => Some(3),
            Act::Refused if before(1, Act::Refused) => Some(1),
            _ => None,
        }
    }

    fn record(&self, act: Act, about: About) {
        let ns = BEGAN.get().map_or(0, |began| began.elapsed().as_nanos() as u64);
        let recorded = self.recorded.load(Ordering::Relaxed);
        // What a thread only repeats would push everything else out of the lane.
        if let Some(back) = self.repeated(recorded, act) {
            let since = self.slot(recorded - back);
            let times = (since.about.load(Ordering::Relaxed) as u32).saturating_add(1);
            since.about.store(u64::from(times), Ordering::Relaxed);
            since.time.store(packed_time(ns, act, 0), Ordering::Relaxed);
            return self.recorded.store(recorded + 1 - back, Ordering::Release);
        }
        let (kind, high, low) = match about {
            About::Nothing => (0, 0, 1),
            About::Descriptor(fd) => (1, fd as u32, 1),
            About::Thread(number) => (2, number, 1),
            About::Point(point, fd) => (3, fd as u32, point),
            About::Text(text, fd) => (4, fd as u32, text),
        };
        let slot = self.slot(recorded);
        slot.time.store(packed_time(ns, act, kind), Ordering::Relaxed);
        slot.about.store(u64::from(high) << 32 | u64::from(low), Ordering::Relaxed);
        self.recorded.store(recorded + 1, Ordering::Release);
    }

    /// Returns the events that it still has, and how many it has lost.
    fn events(&self, lane: usize, details: &[String]) -> (Vec<Event>, u64) {
        let recorded = self.recorded.load(Ordering::Acquire);
        // Its thread may just be overwriting the oldest one.
        let first = recorded.saturating_sub(KEPT - 1);
        let events = (first..recorded).filter_map(|index| self.slot(index).event(lane, details));
        (events.collect(), first as u64)
    }
}

fn packed_time(ns: u64, act: Act, kind: u64) -> u64 {
    ns << 16 | (act as u64) << 8 | kind
}

impl Slot {
    fn event(&self, lane: usize, details: &[String]) -> Option<Event> {
        let (time, about) = (self.time.load(Ordering::Relaxed), self.about.load(Ordering::Relaxed));
        let (high, low) = ((about >> 32) as u32, about as u32);
        let act = *Act::ALL.get((time >> 8 & 0xff) as usize)?;
        let number = Some(high as RawFd).filter(|fd| *fd >= 0);
        let (fd, detail, times) = match time & 0xff {
            1 => (number, None, 1),
            2 => (None, Some(ThreadId::woken(high as RawFd).to_string()), 1),
            3 => (number, Point::ALL.get(low as usize).map(|point| point.name().to_owned()), 1),
            4 => (number, details.get(low as usize).cloned(), 1),
            _ => (None, None, low),
        };
        Some(Event { ns: time >> 16, lane, act, fd, detail, times })
    }
}

/// The lane of the current thread. It is free again when the thread ends.
struct Taken(OnceCell<Option<&'static ThreadLane>>);

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(Some(lane)) = self.0.get() {
            lane.is_taken.store(false, Ordering::Release);
        }
    }
}

thread_local! {
    static TAKEN: Taken = const { Taken(OnceCell::new()) };
    /// Set while the thread looks for its lane: a signal handler may come in between.
    static LOOKS: Cell<bool> = const { Cell::new(false) };
}

/// Returns a lane for the current thread: the one of a former thread of this name, or an unused one, or that
/// of any former thread.
fn find_lane() -> Option<&'static ThreadLane> {
    let current = thread::current();
    let name = current.name().unwrap_or("unnamed");
    let fits: [&dyn Fn(&str) -> bool; 3] = [&|last| last == name, &str::is_empty, &|_| true];
    let lane = fits.into_iter().find_map(|fits| {
        THREADS.iter().find(|lane| {
            let is_free = !lane.is_taken.load(Ordering::Relaxed) && fits(&unpoisoned(&lane.name));
            is_free && lane.take()
        })
    })?;
    let mut last = unpoisoned(&lane.name);
    if *last != name {
        // The events of another thread are not its own.
        lane.recorded.store(0, Ordering::Relaxed);
        name.clone_into(&mut last);
    }
    Some(lane)
}

fn record(act: Act, about: About) {
    if !ON.load(Ordering::Acquire) || LOOKS.get() {
        return;
    }
    // It fails in a thread that is about to end.
    let lane = TAKEN.try_with(|taken| {
        *taken.0.get_or_init(|| {
            LOOKS.set(true);
            let lane = find_lane();
            LOOKS.set(false);
            lane
        })
    });
    if let Ok(Some(lane)) = lane {
        lane.record(act, about);
    }
}

fn observe(point: Point, number: RawFd) {
    let act = match point {
        Point::InsertClaimed => Act::Insert,
        Point::InterestSet => Act::Want,
        Point::ApplyBegun => Act::Update,
        Point::ReportBeforeRunning => Act::Event,
        Point::ReportEntered => Act::Report,
        Point::ReportHandlerDone => Act::Return,
        Point::TakeoverMaskSet => Act::TakeOver,
        Point::MoveDone => Act::Move,
        Point::DeleteMarked => Act::Delete,
        Point::DeleteTokenSet => Act::LeaveClose,
        Point::RetiredBeforeClose => Act::End,
        Point::Closed => Act::Close,
        Point::PinRefused => Act::Refused,
        Point::WakeBegun => return record(Act::Wake, About::Thread(number as u32)),
        Point::BeforeWait => return record(Act::Wait, About::Nothing),
        Point::AfterWait => return record(Act::Awake, About::Nothing),
        // A thread that a test holds at one of these is recorded as held.
        Point::ThreadRegistered
        | Point::ReportRunningSet
        | Point::ExitBegun
        | Point::ExitRunningCleared
        | Point::TakeoverRunningSet
        | Point::MoveLocked
        | Point::InsertBeforeClaim
        | Point::PinWaits
        | Point::DeleteMaskCleared
        | Point::UpdateBitsSet
        | Point::WalkAt
        | Point::RearmSeen
        | Point::WorkDone
        | Point::SleepAnnounced => return,
    };
    match act {
        _ if !is_own(number) => record(act, About::Descriptor(number)),
        Act::Return => record(Act::Fenced, About::Nothing),
        Act::Close => heed(number),
        _ => {}
    }
}

/// Returns the word of [`OWN`] with the bit of this number.
fn own(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((OWN.get(fd / 64)?, 1 << (fd % 64)))
}

fn is_own(fd: RawFd) -> bool {
    // Relaxed, here and below: the descriptor reaches other threads by stronger means.
    own(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
}

/// Declares that this descriptor is one of a fence, until the core has closed it.
pub(crate) fn ignore(fd: RawFd) {
    if let Some((word, bit)) = own(fd) {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Ends what [`ignore`] began.
pub(crate) fn heed(fd: RawFd) {
    if let Some((word, bit)) = own(fd) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Records that the current thread is held at a checkpoint, or released.
pub(crate) fn at(act: Act, point: Point, fd: RawFd) {
    let index = Point::ALL.iter().position(|known| *known == point).unwrap_or_default();
    record(act, About::Point(index as u32, fd));
}

/// Records an act of the current thread that concerns a descriptor.
pub(crate) fn about(act: Act, fd: RawFd) {
    if !is_own(fd) {
        record(act, About::Descriptor(fd));
    }
}

/// Records an act of the current thread that concerns another one.
pub(crate) fn to(act: Act, thread: ThreadId) {
    // As the core numbers it.
    record(act, About::Thread((thread.group().get() << 8 | thread.index()) as u32));
}

/// Records an act of the current thread. `fd` is −1 if it concerns no descriptor.
pub(crate) fn note(act: Act, detail: &str, fd: RawFd) {
    if !ON.load(Ordering::Acquire) {
        return;
    }
    let mut details = unpoisoned(&DETAILS);
    let known = details.iter().position(|known| known == detail);
    let index = known.unwrap_or_else(|| {
        if details.len() >= TEXTS {
            return usize::MAX;
        }
        let mut text: String = detail.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
        if text.len() < detail.len() {
            text.push('…');
        }
        details.push(text);
        details.len() - 1
    });
    drop(details);
    record(act, About::Text(u32::try_from(index).unwrap_or(u32::MAX), fd));
}

/// Begins to record every thread of this process.
pub(crate) fn begin() {
    BEGAN.get_or_init(Instant::now);
    checkpoint::observe(observe);
    // Release, for the Acquire of `record`: a thread that records knows the beginning.
    ON.store(true, Ordering::Release);
}

/// Ends the recording, and returns the last events of each thread, at most [`Timeline::MOST`].
pub(crate) fn end() -> Timeline {
    ON.store(false, Ordering::Release);
    let details = unpoisoned(&DETAILS).clone();
    let recorded = THREADS.iter().enumerate().map(|(index, lane)| {
        let (events, lost) = lane.events(index, &details);
        (unpoisoned(&lane.name).clone(), events, lost)
    });
    share(recorded.filter(|(_, events, _)| !events.is_empty()).collect())
}

/// Keeps the last events of each lane, at most [`Timeline::MOST`] together. A lane with few events leaves its
/// part to the others, so a busy thread displaces no other one.
fn share(mut recorded: Vec<(String, Vec<Event>, u64)>) -> Timeline {
    recorded.sort_by(|(one, ..), (other, ..)| (one != "main", one).cmp(&(other != "main", other)));
    let mut by_length: Vec<_> = (0..recorded.len()).collect();
    by_length.sort_by_key(|index| recorded[*index].1.len());
    let mut left = Timeline::MOST;
    let mut timeline = Timeline::default();
    for (done, index) in by_length.iter().enumerate() {
        let (_, events, lost) = &mut recorded[*index];
        let part = left / (by_length.len() - done);
        let dropped = events.len().saturating_sub(part);
        events.drain(..dropped);
        *lost += dropped as u64;
        left -= events.len();
    }
    for (lane, (name, events, dropped)) in recorded.into_iter().enumerate() {
        timeline.lanes.push(Lane { name, dropped });
        timeline.events.extend(events.into_iter().map(|event| Event { lane, ..event }));
    }
    timeline.events.sort_by_key(|event| event.ns);
    timeline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(lane: &ThreadLane) -> Vec<(Act, u32)> {
        lane.events(0, &[]).0.iter().map(|event| (event.act, event.times)).collect()
    }

    #[test]
    fn waits_without_anything_between_them_become_one() {
        let lane = ThreadLane::new();
        let record = |act| lane.record(act, About::Nothing);
        for _ in 0..1000 {
            record(Act::Wait);
            record(Act::Awake);
        }
        assert_eq!(acts(&lane), [(Act::Wait, 1), (Act::Awake, 1000)]);
        lane.record(Act::Event, About::Descriptor(12));
        [Act::Wait, Act::Awake, Act::Wait].into_iter().for_each(record);
        let expected = [(Act::Wait, 1), (Act::Awake, 1000), (Act::Event, 1), (Act::Wait, 1), (Act::Awake, 1)];
        assert_eq!(acts(&lane)[..5], expected);
        assert_eq!(acts(&lane).len(), 6, "a wait that has not ended is kept");
    }

    #[test]
    fn fences_with_nothing_between_them_become_one_and_hide_no_spin() {
        let lane = ThreadLane::new();
        let fence = [Act::Wait, Act::Awake, Act::Fenced];
        let spin = [Act::Wait, Act::Awake, Act::Wait, Act::Awake, Act::Fenced];
        for act in [&fence[..], &fence, &fence, &spin].concat() {
            lane.record(act, About::Nothing);
        }
        let (wait, awake) = ((Act::Wait, 1), (Act::Awake, 1));
        assert_eq!(acts(&lane), [wait, awake, (Act::Fenced, 3), wait, (Act::Awake, 2), (Act::Fenced, 1)]);
    }

    #[test]
    fn refusals_of_one_walk_become_one_without_a_number() {
        let lane = ThreadLane::new();
        lane.record(Act::Refused, About::Descriptor(3));
        assert_eq!(lane.events(0, &[]).0[0].text(), "refused 3");
        (4..9).for_each(|fd| lane.record(Act::Refused, About::Descriptor(fd)));
        lane.record(Act::Close, About::Descriptor(3));
        let texts: Vec<_> = lane.events(0, &[]).0.iter().map(Event::text).collect();
        assert_eq!(texts, ["refused ×6", "closes 3"]);
    }

    #[test]
    fn a_full_lane_keeps_its_last_events_and_counts_the_others() {
        let lane = ThreadLane::new();
        (0..1000).for_each(|fd| lane.record(Act::Close, About::Descriptor(fd)));
        let (events, lost) = lane.events(0, &[]);
        assert_eq!((events.len() as u64 + lost, events.last().unwrap().fd), (1000, Some(999)));
        assert_eq!(events[0].fd, Some(lost as RawFd));
        assert!(events.len() >= Timeline::MOST);
    }

    #[test]
    fn a_busy_thread_displaces_no_other_one_and_its_dropped_events_are_counted() {
        let events = |count: u64, from: u64| -> Vec<Event> {
            let event = |ns| Event { ns, lane: 9, act: Act::Close, fd: None, detail: None, times: 1 };
            (from..from + count).map(event).collect()
        };
        let recorded = vec![
            ("worker 1/0".to_owned(), events(300, 1000), 7),
            ("worker 1/1".to_owned(), events(5, 0), 0),
            ("worker 1/2".to_owned(), events(400, 1000), 0),
            ("main".to_owned(), events(10, 500), 0),
        ];
        let timeline = share(recorded);
        let lanes: Vec<_> = timeline.lanes.iter().map(|lane| (lane.name.as_str(), lane.dropped)).collect();
        assert_eq!(
            lanes,
            [("main", 0), ("worker 1/0", 300 + 7 - 92), ("worker 1/1", 0), ("worker 1/2", 400 - 93)]
        );
        assert_eq!(timeline.events.len(), Timeline::MOST);
        assert!(timeline.events.is_sorted_by_key(|event| event.ns));
        assert_eq!((timeline.events[0].lane, timeline.events.last().unwrap().lane), (2, 3));
    }

    #[test]
    fn an_event_keeps_its_thread_its_checkpoint_and_its_text() {
        let lane = ThreadLane::new();
        lane.record(Act::Wake, About::Thread(2 << 8 | 5));
        let point = Point::ALL.iter().position(|point| *point == Point::ExitBegun).unwrap();
        lane.record(Act::Held, About::Point(point as u32, -1));
        lane.record(Act::Begin, About::Text(1, 7));
        let (events, _) = lane.events(3, &["a".into(), "takes".into()]);
        let texts: Vec<_> = events.iter().map(Event::text).collect();
        assert_eq!(texts, ["wakes 2/5", "held at ExitBegun", "begins takes 7"]);
        assert!(events.iter().all(|event| event.lane == 3));
    }
}
