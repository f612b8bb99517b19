//! Questions, states and answers in plain words. The raw notation stays beside them.

use metadata::is_silence;

/// The endings of an interface's name, and what they say about the registration.
const ENDINGS: [(&str, &str); 9] = [
    ("-add-before", "registered before"),
    ("-add-after", "registered afterwards"),
    ("-events0", "no interest"),
    ("-R", "interest in reading"),
    ("-IN", "interest in reading"),
    ("-W", "interest in writing"),
    ("-OUT", "interest in writing"),
    ("-X", "interest in urgent data"),
    ("-PRI", "interest in urgent data"),
];

/// Returns a question in plain words: `poll, level, no interest` of `poll-events0@level`.
pub(super) fn question(asked: &str) -> String {
    let name = |api: &str| if api == "queue" { "epoll or kqueue".to_owned() } else { api.to_owned() };
    match asked.split_once('@') {
        Some((api, mode)) => {
            match ENDINGS.iter().find_map(|(end, says)| Some((api.strip_suffix(end)?, says))) {
                Some((api, says)) => format!("{}, {mode}, {says}", name(api)),
                None => format!("{}, {mode}", name(api)),
            }
        }
        None => match asked.rsplit_once('-') {
            Some((api, change @ ("add" | "modify" | "remove"))) => format!("{change} in {}", name(api)),
            Some(("peer", call)) => format!("the peer's {}", self::call(call)),
            _ => call(asked),
        },
    }
}

/// Returns the name of a call: `read(2)` of `read`.
fn call(name: &str) -> String {
    let is_call = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_call { format!("{name}()") } else { name.to_owned() }
}

/// Returns a state in plain words: `pipe, read end drained` of `pipe:read-end-drained`.
pub(super) fn state(name: &str) -> String {
    let plain = |text: &str| text.replace('-', " ");
    match name.split_once(':') {
        Some((of, state)) => format!("{}, {}", plain(of), plain(state)),
        // No descriptor of a transport is asked.
        None if name == "-" => "no transport".to_owned(),
        None => plain(name),
    }
}

/// Returns what an answer says, if that is more than its notation: `3 bytes, then end of file` of `3 then 0`.
/// `meaning` are the common words of its events.
pub(super) fn answer(asked: &str, text: &str, meaning: Option<&str>) -> Option<String> {
    if let Some(meaning) = meaning.filter(|meaning| !meaning.is_empty()) {
        return Some(meaning.to_owned());
    }
    let of_call = |part: &str| match (asked.rsplit('-').next()?, part) {
        (_, "EAGAIN") => Some("would block".to_owned()),
        ("read", "0") => Some("end of file".to_owned()),
        ("read" | "write", "1") => Some("1 byte".to_owned()),
        ("read" | "write", count) if count.parse::<u64>().is_ok() => Some(format!("{count} bytes")),
        ("SO_ERROR", "0") => Some("no error".to_owned()),
        ("add" | "modify" | "remove" | "connect" | "shutdown" | "bind" | "listen", "0") => {
            Some("done".to_owned())
        }
        _ => None,
    };
    let of_wait = |part: &str| match part {
        silence if is_silence(silence) => Some("nothing".to_owned()),
        "not woken" => Some("sleeps on".to_owned()),
        _ => None,
    };
    let is_wait = asked.contains('@');
    let parts: Option<Vec<_>> =
        text.split(" then ").map(|part| if is_wait { of_wait(part) } else { of_call(part) }).collect();
    parts.map(|parts| parts.join(", then "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_states_and_answers_have_plain_words() {
        for (asked, plain) in [
            ("poll-events0@level", "poll, level, no interest"),
            ("queue-add-before@edge", "epoll or kqueue, edge, registered before"),
            ("select@level", "select, level"),
            ("libuv-R@level", "libuv, level, interest in reading"),
            ("read", "read()"),
            ("peer-write", "the peer's write()"),
            ("queue-remove", "remove in epoll or kqueue"),
            ("SO_ERROR", "SO_ERROR"),
        ] {
            assert_eq!(question(asked), plain);
        }
        assert_eq!(state("pipe:read-end-drained"), "pipe, read end drained");
        assert_eq!(state("-"), "no transport");
        for (asked, text, meaning, plain) in [
            ("read", "3 then 0", None, Some("3 bytes, then end of file")),
            ("read", "EAGAIN", None, Some("would block")),
            ("read", "3 then ECONNRESET", None, None),
            ("poll@level", "-", None, Some("nothing")),
            ("poll@level", "HUP", Some("hang-up"), Some("hang-up")),
            ("poll@level", "HUP", Some(""), None),
            ("epoll-add", "0", None, Some("done")),
            ("epoll-add", "EPERM", None, None),
        ] {
            assert_eq!(answer(asked, text, meaning).as_deref(), plain, "{asked}: {text}");
        }
    }
}
