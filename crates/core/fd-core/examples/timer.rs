//! A timer that sets itself again: prints three ticks, and ends.

mod backend;

use std::error::Error;
use std::io::{self, Write};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use pollmatrix_fd_core::ids::ThreadId;
use pollmatrix_fd_core::{Context, Runtime};

const PERIOD: Duration = Duration::from_millis(10);

/// Sends a tick after one period, and sets the next timer while ticks are left. The drop of `ticks` ends the
/// receiver.
fn tick(context: &Context, left: u32, ticks: Sender<u32>) {
    if left > 0 {
        context.after(PERIOD, move |context| {
            let _ = ticks.send(left);
            tick(context, left - 1, ticks);
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::single(backend::backend)?;
    let core = runtime.core();
    let id = ThreadId::FIRST;
    let (sender, ticks) = channel();
    // Timers belong to a worker thread, so a task sets the first one.
    core.post(id, move |context| tick(context, 3, sender))?;
    for left in ticks {
        writeln!(io::stdout(), "tick {left}")?;
    }
    runtime.stop()?;
    Ok(())
}
