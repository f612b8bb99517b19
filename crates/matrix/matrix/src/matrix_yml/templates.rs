//! Renders the templates of the generated files.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

/// Renders a template. Its delimiters are `[[ value ]]` and `[% block %]`, because the workflow's own
/// expressions use braces.
pub(crate) fn fill_in(template: &str, values: impl Serialize) -> String {
    let syntax = SyntaxConfig::builder()
        .block_delimiters("[%", "%]")
        .variable_delimiters("[[", "]]")
        .comment_delimiters("[#", "#]")
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the delimiters differ");
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, Serde(values)).expect("the templates are fixed, and tests fill them in")
}
