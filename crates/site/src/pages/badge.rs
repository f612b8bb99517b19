//! The badge of a poller: an SVG file, and the JSON of an endpoint of shields.io.

use serde::Serialize;
use serde_json::json;

use super::{File, render};
use crate::paths;

/// The colour of a badge: a name that shields.io has, and the fill of the SVG, on which white text has a
/// contrast of at least 4.5.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    Green,
    Orange,
    Red,
    Blue,
    Grey,
}

impl Colour {
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Green => ("brightgreen", "#1a7f45"),
            Self::Orange => ("orange", "#9a5700"),
            Self::Red => ("red", "#b3261e"),
            Self::Blue => ("blue", "#0b57d0"),
            Self::Grey => ("lightgrey", "#5c636b"),
        }
    }
}

#[derive(Serialize)]
struct Content<'a> {
    message: &'a str,
    fill: &'static str,
    width: usize,
    left: usize,
    right: usize,
}

/// Returns the SVG of a badge.
pub(super) fn svg(message: &str, colour: Colour) -> String {
    // About 6.5 units per character of this font; `textLength` makes it exact.
    let wide = |text: &str| text.chars().count() * 13 / 2 + 12;
    let (left, right) = (wide("pollmatrix"), wide(message));
    let content = Content { message, fill: colour.names().1, width: left + right, left, right };
    render(include_str!("../templates/badge.svg"), content)
}

/// Returns both files of a poller's badge.
pub(super) fn files(poller: &str, message: &str, colour: Colour) -> [File; 2] {
    let endpoint = json!({
        "schemaVersion": 1,
        "label": "pollmatrix",
        "message": message,
        "color": colour.names().0,
    });
    [
        File { path: paths::badge(poller, "svg"), text: svg(message, colour) },
        File { path: paths::badge(poller, "json"), text: metadata::json(&endpoint) },
    ]
}
