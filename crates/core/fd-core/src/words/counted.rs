//! The atomics of the protocol in unit tests. They record the read-modify-writes of each thread, so that a
//! test can state how many an operation makes, and of which words (`costs.rs`).

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

pub(crate) use core::sync::atomic::fence;

use super::sync::Ordering;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static ADDRESSES: RefCell<Option<Vec<usize>>> = const { RefCell::new(None) };
}

fn count<T>(atomic: &T) {
    // A thread that ends may use an atomic after its variables are gone.
    let _ = MADE.try_with(|made| made.set(made.get() + 1));
    let _ = ADDRESSES.try_with(|addresses| {
        if let Some(addresses) = &mut *addresses.borrow_mut() {
            addresses.push(std::ptr::from_ref(atomic).addr());
        }
    });
}

/// The addresses of the atomics that `action` changes by read-modify-writes in this thread.
pub(crate) fn addresses(action: impl FnOnce()) -> Vec<usize> {
    ADDRESSES.set(Some(Vec::new()));
    action();
    ADDRESSES.take().unwrap_or_default()
}

/// The number of read-modify-writes that `action` makes in this thread.
pub(crate) fn during(action: impl FnOnce()) -> u64 {
    let before = MADE.get();
    action();
    MADE.get() - before
}

macro_rules! counted {
    ($($name:ident $(<$parameter:ident>)?: $value:ty { $($operation:ident)* })*) => {
        $(
            #[derive(Debug)]
            #[repr(transparent)]
            pub(crate) struct $name $(<$parameter>)? (core::sync::atomic::$name $(<$parameter>)?);

            impl $(<$parameter>)? $name $(<$parameter>)? {
                pub(crate) const fn new(value: $value) -> Self {
                    Self(core::sync::atomic::$name::new(value))
                }

                $(
                    #[allow(dead_code, reason = "the protocol needs a few of the operations of each type")]
                    pub(crate) fn $operation(&self, value: $value, order: Ordering) -> $value {
                        count(self);
                        self.0.$operation(value, order)
                    }
                )*

                #[allow(dead_code, reason = "as above")]
                pub(crate) fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    count(self);
                    self.0.compare_exchange(current, new, success, failure)
                }

                #[allow(dead_code, reason = "as above")]
                pub(crate) fn fetch_update(
                    &self,
                    set: Ordering,
                    fetch: Ordering,
                    mut change: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    self.0.fetch_update(set, fetch, |value| change(value).inspect(|_| count(self)))
                }
            }

            impl $(<$parameter>)? Deref for $name $(<$parameter>)? {
                type Target = core::sync::atomic::$name $(<$parameter>)?;

                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }

            impl $(<$parameter>)? DerefMut for $name $(<$parameter>)? {
                fn deref_mut(&mut self) -> &mut Self::Target {
                    &mut self.0
                }
            }
        )*
    };
}

counted! {
    AtomicBool: bool { swap fetch_and fetch_or }
    AtomicI32: i32 { swap fetch_add fetch_and fetch_max fetch_or fetch_sub fetch_xor }
    AtomicU32: u32 { swap fetch_add fetch_and fetch_max fetch_or fetch_sub fetch_xor }
    AtomicU64: u64 { swap fetch_add fetch_and fetch_max fetch_or fetch_sub fetch_xor }
    AtomicPtr<T>: *mut T { swap }
}
