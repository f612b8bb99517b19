//! Badges: a picture, and an endpoint for shields.io (<https://shields.io/badges/endpoint-badge>).

use serde::Serialize;

use super::Page;
use super::slug;
use crate::text::escaped;

/// The colour of a badge's message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    /// The contract holds.
    Good,
    /// A cell fails.
    Bad,
    /// A cell has no answer.
    Unknown,
    /// Answers without a verdict.
    Neutral,
}

impl Colour {
    /// The name for shields.io, and the colour of the picture. White text on it has a contrast of at least
    /// 4.5.
    const fn values(self) -> (&'static str, &'static str) {
        match self {
            Self::Good => ("brightgreen", "#0d6b2f"),
            Self::Bad => ("red", "#b3261e"),
            Self::Unknown => ("lightgrey", "#5c6670"),
            Self::Neutral => ("blue", "#0b57d0"),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint<'a> {
    schema_version: u32,
    label: &'a str,
    message: &'a str,
    color: &'static str,
}

/// Returns the badge of a poller as a picture and as an endpoint.
pub(super) fn files(name: &str, message: &str, colour: Colour) -> [Page; 2] {
    let label = format!("pollmatrix: {name}");
    let (color, fill) = colour.values();
    let endpoint = Endpoint { schema_version: 1, label: &label, message, color };
    let path = |kind| format!("badges/{}.{kind}", slug(name));
    [
        Page { path: path("json"), text: metadata::json(&endpoint) },
        Page { path: path("svg"), text: picture(&label, message, fill) },
    ]
}

/// Draws two fields side by side. Each text is stretched to the width that is kept for it, because the font
/// of the reader is unknown.
fn picture(label: &str, message: &str, fill: &str) -> String {
    const LETTER: usize = 7;
    const MARGIN: usize = 8;
    let (label, message) = (escaped(label), escaped(message));
    let width = |text: &str| unescaped_length(text) * LETTER;
    let (left, right) = (width(&label) + 2 * MARGIN, width(&message) + 2 * MARGIN);
    let (all, label_width, message_width, at) = (left + right, width(&label), width(&message), left + MARGIN);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" viewBox="0 0 {all} 20" role="img" aria-label="{label}: {message}">
<title>{label}: {message}</title>
<clipPath id="round"><rect width="{all}" height="20" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="{left}" height="20" fill="#3a4046"/><rect x="{left}" width="{right}" height="20" fill="{fill}"/></g>
<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{MARGIN}" y="14" textLength="{label_width}">{label}</text>
<text x="{at}" y="14" textLength="{message_width}">{message}</text>
</g>
</svg>
"##
    )
}

/// The number of characters of an escaped text.
fn unescaped_length(text: &str) -> usize {
    let mut inside = false;
    let counts = |c: &char| {
        let counted = !inside;
        inside = match c {
            '&' => true,
            ';' => false,
            _ => inside,
        };
        counted
    };
    text.chars().filter(counts).count()
}
