//! Atomics whose read-modify-writes are plain stores: a mistake that the check must find on x86, where the
//! write of a pair is also its fence.

use core::sync::atomic::Ordering;

macro_rules! stores {
    ($($name:ident: $value:ty { $($operation:ident)* })*) => {
        $(
            pub struct $name(core::sync::atomic::$name);

            impl $name {
                pub(crate) fn load(&self, order: Ordering) -> $value {
                    self.0.load(order)
                }

                $(
                    pub(crate) fn $operation(&self, value: $value, _: Ordering) -> $value {
                        self.0.store(value, Ordering::Release);
                        <$value>::default()
                    }
                )*
            }
        )*
    };
}

stores! {
    AtomicBool: bool { swap }
    AtomicU32: u32 { }
    AtomicU64: u64 { swap fetch_and fetch_or }
}

impl AtomicU64 {
    pub(crate) fn compare_exchange(&self, old: u64, new: u64, _: Ordering, _: Ordering) -> Result<u64, u64> {
        self.0.store(new, Ordering::Release);
        Ok(old)
    }
}
