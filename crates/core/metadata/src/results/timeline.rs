//! The course of one attempt: what each thread did, and when.

#[cfg(any(test, feature = "schema"))]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The last events of each thread of an attempt.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Timeline {
    /// The threads that have events.
    pub lanes: Vec<Lane>,
    /// The events, the oldest first.
    pub events: Vec<Event>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Lane {
    /// Its name: `worker 1/0`, `main`.
    pub name: String,
    /// How many events before its first one were dropped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

/// One event of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
pub struct Event {
    /// When, in nanoseconds since the attempt began.
    pub ns: u64,
    /// The index of the thread in `lanes`.
    pub lane: usize,
    /// What the thread did.
    pub act: Act,
    /// The number of the descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fd: Option<i32>,
    /// The thread, the checkpoint, the action or the check that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How many times, if the thread did nothing else meanwhile.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u32,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn once() -> u32 {
    1
}

fn is_once(times: &u32) -> bool {
    *times == 1
}

macro_rules! acts {
    ($($(#[$doc:meta])* $act:ident = $words:literal,)*) => {
        /// What a thread does.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[cfg_attr(any(test, feature = "schema"), derive(JsonSchema))]
        pub enum Act {
            $($(#[$doc])* $act,)*
        }

        impl Act {
            /// Every act.
            pub const ALL: &'static [Self] = &[$(Self::$act,)*];

            /// Returns a verb for it: `takes over`.
            pub const fn words(self) -> &'static str {
                match self { $(Self::$act => $words,)* }
            }
        }
    };
}

acts! {
    /// It registers a descriptor.
    Insert = "inserts",
    /// It enables interest in a direction.
    Want = "wants",
    /// It applies an update to its poller.
    Update = "updates",
    /// It has received an event, and has not entered the registration.
    Event = "has event",
    /// It reports the event: the handler may run.
    Report = "reports",
    /// The handler has returned.
    Return = "returns",
    /// It has become the only allowed thread.
    TakeOver = "takes over",
    /// It has moved the registration to a thread of any group.
    Move = "moves",
    /// It deletes the registration.
    Delete = "deletes",
    /// It leaves the close to the last user.
    LeaveClose = "leaves close",
    /// It has ended the registration.
    End = "ends",
    /// It has closed the descriptor.
    Close = "closes",
    /// Its call is refused: the registration is another one.
    Refused = "refused",
    /// It wakes a thread.
    Wake = "wakes",
    /// It begins to wait for events.
    Wait = "waits",
    /// Its wait has ended.
    Awake = "awake",
    /// The test holds it at a checkpoint.
    Held = "held at",
    /// The test has released it.
    Released = "released",
    /// It begins an action of a drawing.
    Begin = "begins",
    /// It has completed an action of a drawing.
    Done = "done",
    /// The scenario writes, to the other end of a connection: the number is that of its own end.
    Send = "sends by",
    /// The scenario fences a thread.
    Fence = "fences",
    /// An event of a fence has passed through its poller.
    Fenced = "passes fence",
    /// A check of the scenario does not hold.
    Wrong = "WRONG",
}

impl Event {
    /// Returns the event as text: `takes over 12`.
    pub fn text(&self) -> String {
        let mut text = self.act.words().to_owned();
        for part in [self.detail.clone(), self.fd.map(|fd| fd.to_string())].into_iter().flatten() {
            text += " ";
            text += &part;
        }
        if self.times > 1 {
            text += &format!(" ×{}", self.times);
        }
        text
    }
}

impl Timeline {
    /// The greatest number of events that an attempt records, and that is drawn.
    pub const MOST: usize = 200;

    /// Returns the events that are drawn, each with its lane: the last ones, if a file has more.
    pub fn shown(&self) -> impl Iterator<Item = (&Event, &Lane)> {
        let skipped = self.events.len().saturating_sub(Self::MOST);
        self.events[skipped..].iter().filter_map(|event| Some((event, self.lanes.get(event.lane)?)))
    }

    /// Returns how many events are missing: those that were dropped, and those that are not drawn.
    pub fn missing(&self) -> u64 {
        let dropped = self.lanes.iter().fold(0, |sum: u64, lane| sum.saturating_add(lane.dropped));
        dropped.saturating_add((self.events.len() - self.shown().count()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ns: u64, lane: usize) -> Event {
        Event { ns, lane, act: Act::Close, fd: Some(12), detail: None, times: 1 }
    }

    #[test]
    fn an_event_is_short_in_json_and_readable_as_text() {
        let close = event(5, 0);
        assert_eq!(serde_json::to_string(&close).unwrap(), r#"{"ns":5,"lane":0,"act":"close","fd":12}"#);
        let spin = Event { act: Act::Awake, fd: None, times: 3, ..close };
        assert_eq!(spin.text(), "awake ×3");
        let held = Event { act: Act::Held, detail: Some("ExitBegun".into()), times: 1, ..event(1, 1) };
        let read: Event = serde_json::from_str(&serde_json::to_string(&held).unwrap()).unwrap();
        assert_eq!((read.text().as_str(), &read), ("held at ExitBegun 12", &held));
    }

    #[test]
    fn a_foreign_timeline_is_bounded_and_an_event_without_a_lane_is_counted_as_missing() {
        let lanes = vec![Lane { name: "main".into(), dropped: u64::MAX - 1 }];
        let mut timeline = Timeline { lanes, events: (0..300).map(|ns| event(ns, 0)).collect() };
        timeline.events.push(event(300, 7));
        assert_eq!(timeline.shown().count(), Timeline::MOST - 1);
        assert_eq!(timeline.shown().next().unwrap().0.ns, 101);
        assert_eq!(timeline.missing(), u64::MAX, "it does not overflow");
    }
}
