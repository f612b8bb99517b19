//! Tables of two servers under the same load.

mod listener;
mod server;

use std::io;
use std::time::Duration;

use cost::statistics::Compared;

use crate::print_line;

pub use server::Protocol;

/// One line of a table.
struct Row {
    /// What is compared.
    name: &'static str,
    /// The two servers.
    compared: Compared,
}

/// Measures a listener of one of several threads, and prints the table. Returns whether every ratio could be
/// told from noise.
///
/// # Errors
/// The error of a system call.
pub fn print_listener(pairs: u32, noise: f64) -> io::Result<bool> {
    let (rows, woken) = listener::compare(pairs, Duration::from_millis(500))?;
    let head = ["a listener of one of 4 threads", "a poller per thread", "one for all"];
    let are_sure = print(head, &rows, noise)?;
    let [one, all] = woken.map(|count| count.to_string());
    print_line(&line(["wake-ups of the other threads", &one, &all, "", ""]))?;
    Ok(are_sure)
}

/// Measures a server of one thread, and prints the table. Returns whether every ratio could be told from
/// noise.
///
/// # Errors
/// The error of a system call.
pub fn print_server(protocol: Protocol, pairs: u32, noise: f64) -> io::Result<bool> {
    let rows = server::compare(protocol, pairs, Duration::from_millis(300))?;
    print(["a server of one thread, 64 clients", "fd-core", "bare epoll"], &rows, noise)
}

fn print([what, one, other]: [&str; 3], rows: &[Row], noise: f64) -> io::Result<bool> {
    print_line(&line([what, one, other, "ratio", "95 % interval"]))?;
    for Row { name, compared } in rows {
        let ([one, other], [ratio, interval]) = (compared.medians, compared.texts(noise));
        print_line(&line([name, &format!("{one:.2}"), &format!("{other:.2}"), &ratio, &interval]))?;
    }
    Ok(rows.iter().all(|row| !row.compared.is_noise(noise)))
}

fn line([name, one, other, ratio, interval]: [&str; 5]) -> String {
    format!("{name:<41}  {one:>19}  {other:>11}  {ratio:>6}  {interval:>13}")
}
