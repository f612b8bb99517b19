//! The harness itself.

crate::catalogue::family! {
    control,
}
