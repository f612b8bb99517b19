//! From the sets that contain a descriptor after the call to [`Events`].

use fd_core::poller::Events;

/// Translates the presence in the two sets. End of file, errors and hang-ups look like readiness.
pub(crate) fn translate(read: bool, write: bool) -> Events {
    Events::READY_R.when(read).or(Events::READY_W.when(write))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of protocol 14, for each set.
    #[test]
    fn each_set_means_what_the_table_says() {
        assert_eq!(translate(false, false), Events::NONE);
        assert_eq!(translate(true, false), Events::READY_R);
        assert_eq!(translate(false, true), Events::READY_W);
        assert_eq!(translate(true, true), Events::READY_R.or(Events::READY_W));
    }
}
