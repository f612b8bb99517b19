//! The JSON schemas of published files. Only tests make them: they compare each committed schema with its
//! types.

use std::path::Path;

use schemars::JsonSchema;

/// Returns the JSON schema of a type, as text.
pub fn text<T: JsonSchema>() -> String {
    crate::json(&schemars::schema_for!(T))
}

/// Compares a committed schema with the type. `POLLMATRIX_BLESS=1` writes the file instead.
///
/// # Panics
/// The file is not the schema of the type.
pub fn assert_current<T: JsonSchema>(path: impl AsRef<Path>) {
    let (path, schema) = (path.as_ref(), text::<T>());
    if std::env::var_os("POLLMATRIX_BLESS").is_some() {
        std::fs::write(path, &schema).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == schema, "{} is out of date: `just generate` writes it again", path.display());
}
