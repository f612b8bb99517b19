//! The macros of the hooks. Each hook is one statement on a line of its own.

/// A mistake that adds a step to the correct code, or replaces a value of it.
///
/// - `fault!(Name => step);` performs `step` while `Name` is switched on. A step may return, break or
///   continue.
/// - `fault!(Name: value => wrong);` replaces the local variable `value` by `wrong` while `Name` is switched
///   on.
///
/// Several names, separated by commas, mean any of them. The new variable shadows the old one, which is
/// dropped later: if its destructor matters, `wrong` must consume it.
#[doc(hidden)]
#[macro_export]
macro_rules! fault {
    ($($name:ident),+ => $step:expr) => {
        if $crate::hooks::ARMED && ($($crate::hooks::names::$name.is_on())||+) {
            $step;
        }
    };
    ($($name:ident),+ : $value:ident => $wrong:expr) => {
        let $value = if $crate::hooks::ARMED && ($($crate::hooks::names::$name.is_on())||+) { $wrong } else { $value };
    };
}

/// A step of the correct code that a mistake omits: `unless!(Name => step);`.
#[doc(hidden)]
#[macro_export]
macro_rules! unless {
    ($($name:ident),+ => $step:expr) => {
        if !($crate::hooks::ARMED && ($($crate::hooks::names::$name.is_on())||+)) {
            $step;
        }
    };
}

/// An ordering that a mistake makes relaxed: `ordering!(Name, AcqRel)`.
macro_rules! ordering {
    ($name:ident, $strong:ident) => {
        if $crate::hooks::ARMED && $crate::hooks::names::$name.is_on() {
            core::sync::atomic::Ordering::Relaxed
        } else {
            core::sync::atomic::Ordering::$strong
        }
    };
}

/// A point of the protocol: `checkpoint!(Point, fd);`, or `checkpoint!(Point);` if it concerns no descriptor.
macro_rules! checkpoint {
    ($point:ident) => {
        checkpoint!($point, -1)
    };
    ($point:ident, $fd:expr) => {
        if cfg!(feature = "checkpoints") {
            $crate::hooks::checkpoint::hit($crate::hooks::checkpoint::Point::$point, $fd);
        }
    };
}

/// Panics if an invariant does not hold, if invariants are checked: `invariant!(holds, "…");`.
macro_rules! invariant {
    ($holds:expr $(, $($text:tt)+)?) => {
        if $crate::hooks::invariants::checked() {
            assert!($holds $(, $($text)+)?);
        }
    };
}
