//! The frame of every page: head, style, scripts, and a content security policy that forbids everything else.

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

/// A kind of page.
pub(super) struct Shell<'a> {
    /// The template that fills the blocks of shell.html.
    pub(super) template: &'static str,
    /// Other templates that it extends or includes, by their names.
    pub(super) partials: &'a [(&'static str, &'static str)],
    /// The page's own style, which follows the common one.
    pub(super) style: &'static str,
    /// The page's scripts, in the order of their dependencies.
    pub(super) scripts: &'a [&'static str],
}

impl Shell<'_> {
    /// Renders a page with this content. Equal content gives equal text.
    pub(super) fn page(&self, content: impl Serialize) -> String {
        let style = format!("{BASE_STYLE}{}", self.style);
        let script = format!("(async () => {{\n\"use strict\";\n{}}})();\n", self.scripts.concat());
        let values = Values {
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
        // Escaping also makes invisible characters visible, so that no text can reorder its surroundings.
        environment.set_formatter(|out, state, value| match value.as_str() {
            Some(text) if !value.is_safe() => {
                escape_formatter(out, state, &Value::from(visible(text).into_owned()))
            }
            _ => escape_formatter(out, state, value),
        });
        for (name, text) in std::iter::once(&("shell.html", SHELL)).chain(self.partials) {
            environment.add_template(name, text).expect("the template is fixed");
        }
        environment
            .render_str(self.template, Serde(values))
            .expect("the template is fixed, and tests render it")
    }
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

/// The longest title of a page that search engines and the tabs of browsers show whole, in characters.
const LONGEST_TITLE: usize = 70;

/// Returns the title of a page: `text` with the name of the site if there is room for it, and the words of
/// `text` that fit otherwise.
pub(super) fn short_title(text: &str, site: &str) -> String {
    let whole = format!("{text}{site}");
    if whole.chars().count() <= LONGEST_TITLE {
        return whole;
    }
    if text.chars().count() <= LONGEST_TITLE {
        return text.to_owned();
    }
    let begun: String = text.chars().take(LONGEST_TITLE).collect();
    let words = begun.rsplit_once(' ').map_or(begun.as_str(), |(words, _)| words);
    let words: String = words.chars().take(LONGEST_TITLE - 1).collect();
    format!("{}…", words.trim_end_matches([',', ':', ';', ' ']))
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
pub(super) fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}
