//! The one view of an adapter, which has its name.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use selector::View;

use crate::library::view;

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
