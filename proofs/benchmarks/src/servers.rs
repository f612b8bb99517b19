//! Tables of two servers under the same load.

mod listener;
mod peers;
mod proxy;
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

impl Row {
    /// Compares one figure of what two servers did in each pair of samples.
    fn of<T>(name: &'static str, both: &[[T; 2]], figure: fn(&T) -> f64) -> Self {
        let pairs: Vec<_> = both.iter().map(|pair| pair.each_ref().map(figure)).collect();
        Self { name, compared: Compared::of(&pairs) }
    }
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

/// Measures servers of one thread, and prints the tables. Returns whether every ratio could be told from
/// noise.
///
/// # Errors
/// The error of a system call.
pub fn print_server(protocol: Protocol, pairs: u32, noise: f64) -> io::Result<bool> {
    let mut are_sure = true;
    for (name, other, protocols) in server::OTHERS {
        if protocols.contains(&protocol) {
            let rows = server::compare(protocol, other, pairs, Duration::from_millis(300))?;
            are_sure &= print(["a server of one thread, 64 clients", "fd-core", name], &rows, noise)?;
        }
    }
    Ok(are_sure)
}

/// Measures the proxy of the example `takeover_pool` beside HAProxy and nginx, and prints the tables. Returns
/// whether both are there, and every ratio could be told from noise.
///
/// # Errors
/// The error of a system call, or a proxy does not serve.
pub fn print_proxy(pairs: u32, noise: f64) -> io::Result<bool> {
    let mut are_sure = true;
    for other in [proxy::Program::Haproxy, proxy::Program::Nginx] {
        let name = other.name();
        match proxy::compare(other, pairs, Duration::from_secs(1)) {
            Ok((rows, backends)) => {
                are_sure &= print(["a proxy of two threads, 64 clients", "fd-core", name], &rows, noise)?;
                let [[own, its], [own_taken, its_taken]] = backends.map(|counts| {
                    counts.map(|count| {
                        count.map_or_else(|| "not told".to_owned(), |count| format!("{count:.0}"))
                    })
                });
                print_line(&line(["connections to the server at the end", &own, &its, "", ""]))?;
                print_line(&line(["takeovers per second", &own_taken, &its_taken, "", ""]))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                crate::print_error_line(&format!("not measured: {name} is not installed"));
                are_sure = false;
            }
            Err(error) => return Err(io::Error::other(format!("{name}: {error}"))),
        }
    }
    Ok(are_sure)
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
