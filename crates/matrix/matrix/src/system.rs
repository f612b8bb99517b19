//! The system whose kernel runs this program. That can be a kernel that imitates another one: it runs the
//! other's programs, and answers uname(2) in its name.

use std::sync::OnceLock;

use metadata::Os;

/// A kernel that runs programs of Linux, its name, and a text in the release or the version of its uname(2).
///
/// - gVisor's version is a constant of its source. The log of its kernel begins with `Starting gVisor...`.
/// - FreeBSD's Linuxulator has the version of FreeBSD.
/// - The zones `lx` of illumos have the version `BrandZ virtual linux`.
/// - WSL 1 has a release such as `4.4.0-19041-Microsoft`. WSL 2, `…-microsoft-standard-WSL2`, is a Linux.
const IMITATORS: [(&str, &str); 4] = [
    (GVISOR, "#1 SMP Sun Jan 10 15:06:54 PST 2016"),
    ("linuxulator", "FreeBSD"),
    ("lx", "BrandZ"),
    ("wsl1", "-Microsoft"),
];

/// gVisor's name, as of the operating system of expectations.
const GVISOR: &str = Os::Gvisor.name();

/// Returns the name of the system whose kernel runs this program: that of its target, or of an imitator.
pub fn name() -> &'static str {
    static NAME: OnceLock<&str> = OnceLock::new();
    NAME.get_or_init(|| {
        let target = std::env::consts::OS;
        let Ok(uname) = nix::sys::utsname::uname() else { return target };
        let text = [uname.release(), uname.version()].map(|part| part.to_string_lossy());
        let imitator = if target == "linux" { imitator(&text.join(" ")) } else { None };
        imitator.unwrap_or(target)
    })
}

/// Returns whether the release of uname(2) is that of the imitated kernel, and says nothing about this one.
pub fn hides_its_release() -> bool {
    name() == GVISOR
}

/// Returns the kernel that imitates Linux with this release and version of uname(2).
fn imitator(uname: &str) -> Option<&'static str> {
    IMITATORS.iter().find(|(_, text)| uname.contains(text)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_imitates_linux_has_a_name_of_its_own() {
        for (uname, expected) in [
            ("4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", Some("gvisor")),
            ("5.15.0 FreeBSD 14.1-RELEASE-p5 GENERIC", Some("linuxulator")),
            ("3.13.0 BrandZ virtual linux", Some("lx")),
            ("4.4.0-19041-Microsoft #1237-Microsoft Sat Sep 11 14:32:00 PST 2021", Some("wsl1")),
            ("6.6.87.2-microsoft-standard-WSL2 #1 SMP PREEMPT_DYNAMIC", None),
            ("6.1.0-56-cloud-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-02)", None),
            ("4.4.0-210-generic #242-Ubuntu SMP Fri Apr 16 09:57:56 UTC 2021", None),
        ] {
            assert_eq!(imitator(uname), expected, "{uname}");
        }
    }
}
