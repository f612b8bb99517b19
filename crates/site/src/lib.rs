//! Builds a static site from results and recorded answers.
//!
//! [`Input`] holds the expectations, the results and the answers in them. [`build()`] returns the files of
//! the site: a page per behaviour, system, poller and contract scenario, a matrix, a comparison, a search,
//! badges and a sitemap. Equal input gives equal files. [`paths`] has the scheme of their addresses, which
//! stays. [`links::check`] finds broken links in a site, and [`folder`] writes one.
//!
//! All pages work without scripts, except the search, the comparison and the filters. No page makes a
//! request.

mod facts;
mod findings;
pub mod folder;
pub mod links;
mod model;
mod pages;
pub mod paths;

pub use model::{Answer, INTERFACES, Input, Measured, Model, Place, Question, Row, Shown, System};
pub use pages::{Contract, Costs, Curve, File, build};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
