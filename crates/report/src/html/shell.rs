//! What every page has: its head, its style, its scripts, and a policy that lets nothing else run, load or send anything.

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
/// In the head: the colours must be known before something is painted.
const THEME: &str = include_str!("theme.js");

/// One kind of page.
pub(super) struct Shell<'a> {
    /// What fills in the blocks of shell.html.
    pub(super) template: &'static str,
    /// Its style, after the one that all pages share.
    pub(super) style: &'static str,
    /// Its scripts, in the order in which they need each other.
    pub(super) scripts: &'a [&'static str],
}

impl Shell<'_> {
    /// The text of the page that says `content`. The same content gives the same text.
    pub(super) fn page(&self, content: impl Serialize) -> String {
        let style = format!("{BASE_STYLE}{}", self.style);
        let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", self.scripts.concat());
        let whole = Whole {
            content,
            policy: policy(&style, &script),
            style,
            script,
            theme: THEME,
            icon: BASE64_STANDARD.encode(ICON),
        };
        let mut environment = Environment::new();
        environment.set_syntax(syntax());
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // Whatever is escaped is also made visible: no text reorders what stands beside it.
        environment.set_formatter(|out, state, value| match value.as_str() {
            Some(text) if !value.is_safe() => {
                escape_formatter(out, state, &Value::from(visible(text).into_owned()))
            }
            _ => escape_formatter(out, state, value),
        });
        environment.add_template("shell.html", SHELL).expect("the template is fixed");
        environment
            .render_str(self.template, Serde(whole))
            .expect("the template is fixed, and tests fill it in")
    }
}

/// What the templates are filled in with.
#[derive(Serialize)]
struct Whole<T> {
    #[serde(flatten)]
    content: T,
    style: String,
    theme: &'static str,
    script: String,
    policy: String,
    icon: String,
}

/// The usual delimiters; a line with nothing but a block leaves nothing.
fn syntax() -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).build().expect("the delimiters differ")
}

/// What the page may do: be as it is, and nothing else. Its icon is in it as data.
fn policy(style: &str, script: &str) -> String {
    let (style, theme, script) = (hash(style), hash(THEME), hash(script));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{theme}' '{script}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// What a policy calls a script or a style.
pub(super) fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}
