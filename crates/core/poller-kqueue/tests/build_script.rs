//! The build script's instructions, for each system and value of the environment variable.

#[allow(dead_code, clippy::print_stdout, reason = "only cargo calls `main`")]
#[path = "../build.rs"]
mod build_script;

use std::ffi::OsString;

use build_script::instructions;

fn with_library(path: &str) -> Result<Vec<String>, String> {
    instructions("linux", Some(Some(OsString::from(path))))
}

#[test]
fn only_the_feature_or_the_kernel_makes_kqueue_available() {
    assert_eq!(instructions("linux", None), Ok(vec![]));
    assert_eq!(instructions("freebsd", None), Ok(vec!["rustc-cfg=kqueue".into()]));
    let both = vec!["rustc-cfg=kqueue".to_owned(), "rustc-cfg=evfilt_except".to_owned()];
    assert_eq!(instructions("macos", None), Ok(both));
}

#[test]
fn a_library_is_linked_by_its_path_with_its_whole_name() {
    let folder = std::env::temp_dir().join(format!("pollmatrix-kqueue-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("libkqueue.so.0.1");
    std::fs::write(&file, "no library").unwrap();
    let folder = folder.to_str().unwrap();
    let lines = with_library(file.to_str().unwrap()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    for line in [
        "rustc-cfg=kqueue".to_owned(),
        "rustc-cfg=kqueue_library".to_owned(),
        format!("rustc-link-search=native={folder}"),
        "rustc-link-lib=dylib:+verbatim=libkqueue.so.0.1".to_owned(),
        format!("rustc-link-arg=-Wl,-rpath,{folder}"),
        "rustc-env=POLLMATRIX_KQUEUE_NAME=libkqueue".to_owned(),
    ] {
        assert!(lines.contains(&line), "{line} in {lines:?}");
    }
}

#[test]
fn the_build_fails_with_the_reason_and_the_fix() {
    let own = std::env::current_exe().unwrap();
    let cases = [
        (instructions("linux", Some(None)), "POLLMATRIX_KQUEUE_LIBRARY is not set"),
        (with_library(""), "POLLMATRIX_KQUEUE_LIBRARY is not set"),
        (with_library("/no/such/libkqueue.so"), "/no/such/libkqueue.so: there is no such file"),
        (with_library("/"), "/: there is no such file"),
        (with_library("libkqueue.so"), "libkqueue.so: the path is not absolute"),
        (with_library(own.to_str().unwrap()), "it is not a shared library (.so)"),
    ];
    for (result, why) in cases {
        let message = result.expect_err(why);
        assert!(message.contains(why), "{message}");
        assert!(
            message.ends_with("give the library: POLLMATRIX_KQUEUE_LIBRARY=/path/to/libkqueue.so"),
            "{message}"
        );
    }
    let kernel = instructions("freebsd", Some(None)).expect_err("the kernel has kqueue");
    assert!(kernel.contains("build without the feature `library`"), "{kernel}");
    let other = instructions("illumos", Some(None)).expect_err("it is not Linux");
    assert!(other.contains("is for Linux, and this build is for illumos"), "{other}");
}
