//! How a subject is asked about a state: in one way, which has its name.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use selector::{Interest, Registered, View};

/// The view of a subject whose name is known.
pub const fn view(name: &'static str) -> [View; 1] {
    [View { api: name, interest: Interest::ALL, registered: Registered::Before }]
}

/// The view of a subject that tells its name when it starts. Each name is kept for the life of this process.
pub fn views(name: &str) -> &'static [View] {
    static KNOWN: Mutex<BTreeMap<&'static str, &'static [View; 1]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(views) = known.get(name) {
        return *views;
    }
    let name: &'static str = name.to_owned().leak();
    let views: &'static [View; 1] = Box::leak(Box::new(view(name)));
    known.insert(name, views);
    views
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_view_however_often_it_is_told() {
        let (first, again, other) = (views("some-adapter"), views("some-adapter"), views("another"));
        assert!(std::ptr::eq(first, again));
        assert_eq!((first[0].api, other[0].api), ("some-adapter", "another"));
    }
}
