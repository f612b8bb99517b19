//! A side in this process.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use raw::Setting;
use selector::MakeSelector;

use crate::line::Line;
use crate::side::{About, Features, MakeSide, Performed, Side};

/// Descriptor numbers and limits belong to the process: it performs one line at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Performs lines in this process, on a poller that lives here or in an adapter.
///
/// The process should do nothing else that opens descriptors.
pub struct Local {
    about: About,
    make: MakeSelector,
    queue: Option<MakeSelector>,
    patience: Duration,
}

impl Local {
    /// Makes the poller once, to learn its features. `patience` is how long a line waits for an event that
    /// must come.
    ///
    /// # Errors
    /// The poller cannot be made.
    pub fn new(
        make: MakeSelector,
        queue: Option<MakeSelector>,
        system: &str,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let selector = make()?;
        let about = About {
            name: selector.name().to_owned(),
            system: system.to_owned(),
            column: selector.column(),
            features: Features::of(&*selector),
        };
        Ok(Self { about, make, queue, patience })
    }

    /// Performs a line.
    pub fn perform(&self, line: &Line) -> Performed {
        self.perform_with(line, self.patience)
    }

    /// Performs a line with another time limit.
    pub fn perform_with(&self, line: &Line, patience: Duration) -> Performed {
        let setting = Setting {
            transport: line.transport,
            mode: line.mode,
            make: self.make,
            queue: self.queue,
            seed: 0,
            patience,
        };
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (transcript, ended) = raw::run(&line.script.to_string(), setting);
        Performed::of(line, &transcript, ended)
    }
}

impl MakeSide for Local {
    fn about(&self) -> &About {
        &self.about
    }

    fn make(&self) -> Box<dyn Side + Send + '_> {
        Box::new(Performer(self))
    }
}

struct Performer<'a>(&'a Local);

impl Side for Performer<'_> {
    fn perform(&mut self, line: &Line) -> Performed {
        self.0.perform(line)
    }

    fn perform_afresh(&mut self, line: &Line) -> Performed {
        self.0.perform(line)
    }
}
