//! The addresses of pages. They are published: a page keeps its path, and old paths keep working.

use expectations::Version;
use metadata::Os;
use sha2::{Digest, Sha256};

/// The longest part of a path that a name becomes. Longer names are cut, and get a hash.
const LONGEST: usize = 96;

/// Returns the page of a behaviour: `rows/V26.html`.
pub fn row(id: &str) -> String {
    format!("rows/{}.html", part(id))
}

/// Returns the page of a system and version: `systems/linux-6.18.44.html`.
pub fn system(os: Os, version: &Version) -> String {
    format!("systems/{}.html", system_id(os, version))
}

/// Returns the page with all versions of a system: `systems/linux.html`.
pub fn all_versions(os: Os) -> String {
    format!("systems/{}.html", part(os.name()))
}

/// Returns the id of a system and version: `linux-6.18.44`.
pub fn system_id(os: Os, version: &Version) -> String {
    part(&format!("{os}-{version}"))
}

/// Returns the page of a poller: `pollers/epoll.html`.
pub fn poller(name: &str) -> String {
    format!("pollers/{}.html", part(name))
}

/// Returns the badge of a poller: `badges/epoll.svg`, or `badges/epoll.json` for shields.io.
pub fn badge(name: &str, extension: &str) -> String {
    format!("badges/{}.{extension}", part(name))
}

/// Returns the page of a contract scenario: `scenarios/deletion/cloned-dup.html`.
pub fn scenario(id: &str) -> String {
    format!("scenarios/{}.html", id.split('/').map(part).collect::<Vec<_>>().join("/"))
}

/// Returns the path in the site of the answers of a poller as Markdown, `TARGET/POLLER.md`:
/// `results/x86_64-linux-gnu/epoll.md`.
pub fn answers(page: &str) -> String {
    let (target, poller) = page.rsplit_once('/').unwrap_or_default();
    let poller = poller.strip_suffix(".md").unwrap_or(poller);
    format!("results/{}/{}.md", part(target), part(poller))
}

/// Returns a name as one part of a path, which needs no escape in an address or a shell: letters, digits,
/// `-`, `.` and `_` stay, any other byte becomes `~` and two digits. Different names stay different.
pub fn part(name: &str) -> String {
    let mut out = String::new();
    for (place, byte) in name.bytes().enumerate() {
        // A leading dot would hide the file, or leave the folder.
        let stays = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte == b'.' && place > 0;
        match stays {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("~{byte:02x}")),
        }
    }
    if out.is_empty() {
        return "~".to_owned();
    }
    if out.len() > LONGEST {
        let hash: String = Sha256::digest(name).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        out.truncate(LONGEST - hash.len() - 2);
        out = format!("{out}~~{hash}");
    }
    out
}

/// Returns the relative address of `to` on the page `from`.
pub fn relative(from: &str, to: &str) -> String {
    format!("{}{to}", root(from))
}

/// Returns the relative address of the site's folder on the page `from`: `../` per folder.
pub fn root(from: &str) -> String {
    "../".repeat(from.matches('/').count())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_addresses_of_pages_stay() {
        let version = Version::of_release(Os::Linux, "6.18.44").unwrap();
        assert_eq!(row("V26"), "rows/V26.html");
        assert_eq!(row("2.7"), "rows/2.7.html");
        assert_eq!(system(Os::Linux, &version), "systems/linux-6.18.44.html");
        let bsd = Version::of_release(Os::FreeBsd, "12.3-RELEASE-p5").unwrap();
        assert_eq!(system(Os::FreeBsd, &bsd), "systems/freebsd-12.3.5.html");
        assert_eq!(all_versions(Os::MacOs), "systems/macos.html");
        assert_eq!(poller("python-epoll"), "pollers/python-epoll.html");
        assert_eq!(badge("mio", "svg"), "badges/mio.svg");
        assert_eq!(badge("mio", "json"), "badges/mio.json");
        assert_eq!(answers("x86_64-linux-gnu/epoll.md"), "results/x86_64-linux-gnu/epoll.md");
        assert_eq!(scenario("deletion/cloned-dup"), "scenarios/deletion/cloned-dup.html");
    }

    #[test]
    fn every_behaviour_has_a_page_of_its_own_name() {
        for (id, _) in expectations::BEHAVIOURS {
            assert_eq!(row(id), format!("rows/{id}.html"));
        }
    }

    #[test]
    fn no_name_leaves_its_folder_or_needs_an_escape() {
        let long = "x".repeat(5000);
        for name in ["..", ".", "", "/", "a/../../b", "a\\b", "C:", "é\u{202e}", "<\">'&#?%", " ", &long] {
            let part = part(name);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
            assert!(part.chars().all(is_plain), "{name:?}: {part}");
            assert!(!part.is_empty() && !part.starts_with('.') && part.len() <= LONGEST, "{name:?}: {part}");
        }
        assert_eq!(scenario("../../etc/passwd"), "scenarios/~2e./~2e./etc/passwd.html");
    }

    #[test]
    fn different_names_have_different_pages() {
        let long = "x".repeat(500);
        let names = ["a b", "a~20b", "a/b", "a", "~", "", ".", "~2e", &long, &format!("{long}y")];
        let parts: BTreeSet<_> = names.iter().map(|name| part(name)).collect();
        assert_eq!(parts.len(), names.len(), "{parts:?}");
    }

    #[test]
    fn relative_addresses_lead_back_to_the_front_page() {
        assert_eq!(relative("index.html", "rows/V26.html"), "rows/V26.html");
        assert_eq!(relative("scenarios/a/b.html", "index.html"), "../../index.html");
    }
}
