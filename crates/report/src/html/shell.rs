//! The frame of every page: head, style, scripts, and a content security policy that forbids everything else.
//!
//! Other crates build pages of the same look with [`Shell`].

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metadata::visible;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;
use sha2::{Digest, Sha256};

const SHELL: &str = include_str!("shell.html");
const BASE_STYLE: &str = include_str!("base.css");
const ICON: &str = include_str!("icon.svg");
/// The script in the head. It sets the colours before the first paint.
const THEME: &str = include_str!("theme.js");

/// Script: creates elements and copies text. The other scripts need it.
pub const DOM: &str = include_str!("dom.js");
/// Script: the button `theme-button` switches to the next theme.
pub const THEME_BUTTON: &str = include_str!("theme-button.js");

/// A kind of page.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// The template that fills the blocks `kind`, `title`, `head` and `body` of shell.html.
    pub template: &'static str,
    /// Templates that `template` extends or includes: name and text.
    pub layouts: &'a [(&'static str, &'static str)],
    /// The page's own style, which follows the common one.
    pub style: &'a str,
    /// The page's scripts, in the order of their dependencies.
    pub scripts: &'a [&'static str],
}

impl Shell<'_> {
    /// Renders a page with this content. Equal content gives equal text.
    ///
    /// # Panics
    /// The template has an error, or needs a value that the content lacks. Tests must render each template.
    pub fn page(&self, content: impl Serialize) -> String {
        let style = format!("{BASE_STYLE}{}", self.style);
        let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", self.scripts.concat());
        let values = Values {
            content,
            policy: policy(&style, &script),
            style,
            script,
            theme: THEME,
            icon: BASE64_STANDARD.encode(ICON),
        };
        let mut environment = environment();
        environment.add_template("shell.html", SHELL).expect("the template is fixed");
        for (name, text) in self.layouts {
            environment.add_template(name, text).expect("the layouts are fixed");
        }
        environment
            .render_str(self.template, Serde(values))
            .expect("the template is fixed, and tests render it")
    }
}

/// Returns an environment for templates of HTML or XML: it escapes every text, makes invisible characters
/// visible, and a missing value is an error.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(syntax());
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Escaping also makes invisible characters visible, so that no text can reorder its surroundings.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            escape_formatter(out, state, &Value::from(visible(text).into_owned()))
        }
        _ => escape_formatter(out, state, value),
    });
    environment
}

/// Returns JSON that can stand in a `script` element.
pub fn embedded_json(value: &impl Serialize) -> String {
    let plain = serde_json::to_string(value).expect("the types have string keys and no fallible parts");
    let mut safe = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            // JSON has these characters only inside of strings.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            _ => safe.push(c),
        }
    }
    safe
}

/// The values for the templates.
#[derive(Serialize)]
struct Values<T> {
    #[serde(flatten)]
    content: T,
    style: String,
    theme: &'static str,
    script: String,
    policy: String,
    icon: String,
}

/// Returns the default syntax, in which a line with only a block produces no output.
fn syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).build().expect("the delimiters differ")
}

/// Returns the content security policy: only the page's own style and scripts, and images as data for the
/// icon.
fn policy(style: &str, script: &str) -> String {
    let (style, theme, script) = (hash(style), hash(THEME), hash(script));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{theme}' '{script}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// Returns the hash of a script or a style in the form that a policy uses.
pub(crate) fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}
