//! The one view of a library or an adapter, which has its name.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use selector::{Interest, Registered, View};

/// Returns the view for a constant name.
pub const fn view(name: &'static str) -> [View; 1] {
    [View { api: name, interest: Interest::ALL, registered: Registered::Before }]
}

/// Returns the view for a name that is known at run time. This process keeps each name until it ends.
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
    fn a_name_has_one_view() {
        let (first, again, other) = (views("some-adapter"), views("some-adapter"), views("another"));
        assert!(std::ptr::eq(first, again));
        assert_eq!((first[0].api, other[0].api), ("some-adapter", "another"));
    }
}
