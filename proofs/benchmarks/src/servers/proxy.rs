//! Proxies of two threads under the same load: the example `takeover_pool` of fd-core beside HAProxy and
//! nginx. 64 clients send a request, and the next one after the answer; the server behind the proxy is
//! fd-core's. A proxy is a process of its own, and its processor time is that of its process group.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use cost::statistics::{alternately, median_and_interval};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::servers::Row;
use crate::servers::server::{Load, Protocol, fd_core, listener, under_load};

/// The option with which this program is the example itself.
const SERVE: &str = "--serve-proxy";

/// The program that is a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// The example `takeover_pool`.
    FdCore,
    /// With `http-reuse always`.
    Haproxy,
    /// With two processes, and a pool of connections in each.
    Nginx,
}

impl Program {
    /// The name in tables, and of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::FdCore => "fd-core",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
        }
    }

    /// Starts the proxy before this server. It inherits the listener, so it can be called at once.
    fn start(self, server: SocketAddr) -> io::Result<Running> {
        let folder = tempfile::tempdir()?;
        let (mut command, address, _inherited) = match self {
            Self::FdCore => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args([SERVE, &server.to_string()]);
                (command, None, None)
            }
            Self::Haproxy => {
                let listener = inherited()?;
                let file = folder.path().join("haproxy.cfg");
                fs::write(&file, haproxy(listener.as_raw_fd(), server, folder.path()))?;
                let mut command = Command::new("haproxy");
                command.args(["-q", "-db", "-f"]).arg(file);
                (command, Some(listener.local_addr()?), Some(listener))
            }
            Self::Nginx => {
                let listener = inherited()?;
                let file = folder.path().join("nginx.conf");
                fs::write(&file, nginx(listener.local_addr()?, server, folder.path()))?;
                let mut command = Command::new("nginx");
                command.env("NGINX", format!("{};", listener.as_raw_fd()));
                command.args(["-e", "stderr", "-p"]).arg(folder.path()).arg("-c").arg(file);
                (command, Some(listener.local_addr()?), Some(listener))
            }
        };
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or(ErrorKind::BrokenPipe)?);
        let address = match address {
            Some(address) => address,
            None => {
                let mut line = String::new();
                output.read_line(&mut line)?;
                line.trim().parse().map_err(io::Error::other)?
            }
        };
        Ok(Running { proxy: self, child, output, address, folder })
    }
}

/// A listener that a child gets.
fn inherited() -> io::Result<TcpListener> {
    let listener = listener()?;
    fcntl(&listener, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(listener)
}

fn haproxy(listener: i32, server: SocketAddr, folder: &Path) -> String {
    format!(
        "global\n  nbthread 2\n  stats socket {}/stats\n\
         defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n  \
         http-reuse always\n\
         frontend clients\n  bind fd@{listener}\n  default_backend servers\n\
         backend servers\n  server one {server}\n",
        folder.display()
    )
}

fn nginx(address: SocketAddr, server: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("  {what}_temp_path {folder}/{what};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes 2;\npid {folder}/pid;\nerror_log stderr crit;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n{temporary}  keepalive_requests 100000000;\n  \
         upstream servers {{ server {server}; keepalive 64; keepalive_requests 100000000; }}\n  \
         server {{\n    listen {address};\n    location / {{\n      proxy_pass http://servers;\n      \
         proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n    }}\n  }}\n}}\n"
    )
}

/// A proxy that serves. It ends with this value.
struct Running {
    proxy: Program,
    child: Child,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
    folder: TempDir,
}

impl Running {
    /// The processor time of all threads of the process group.
    fn processor(&self) -> io::Result<Duration> {
        let group = self.child.id().to_string();
        let mut nanoseconds = 0;
        for process in fs::read_dir("/proc")? {
            let process = process?.path();
            // The name, which can contain anything, ends with the last parenthesis. State, parent, group.
            let Ok(stat) = fs::read_to_string(process.join("stat")) else { continue };
            let Some((_, fields)) = stat.rsplit_once(')') else { continue };
            if fields.split_whitespace().nth(2) != Some(&group) {
                continue;
            }
            for thread in fs::read_dir(process.join("task"))? {
                let times = fs::read_to_string(thread?.path().join("schedstat"))?;
                let time = times.split_whitespace().next().and_then(|time| time.parse::<u64>().ok());
                nanoseconds += time.ok_or_else(|| io::Error::other(format!("schedstat is {times:?}")))?;
            }
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// Ends the proxy. Returns the number of connections that its threads have taken over, if it tells.
    fn end(mut self) -> io::Result<Option<u64>> {
        match self.proxy {
            Program::FdCore => {
                drop(self.child.stdin.take());
                let mut said = String::new();
                self.output.read_to_string(&mut said)?;
                let takeovers = said.split(' ').nth(3).and_then(|number| number.parse().ok());
                takeovers.map(Some).ok_or_else(|| io::Error::other(format!("the proxy ended with {said:?}")))
            }
            Program::Haproxy => {
                let mut stats = UnixStream::connect(self.folder.path().join("stats"))?;
                stats.write_all(b"show activity\n")?;
                let mut said = String::new();
                stats.read_to_string(&mut said)?;
                let takeovers = said.lines().find_map(|line| line.strip_prefix("fd_takeover: "));
                Ok(takeovers.and_then(|line| line.split(' ').next()?.parse().ok()))
            }
            Program::Nginx => Ok(None),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails if the proxy has ended.
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// What a proxy did in a sample.
#[derive(Debug)]
struct Served {
    requests: u64,
    elapsed: Duration,
    processor: Duration,
    /// The time that 99 % of the answers do not exceed.
    p99: Duration,
    /// The connections to the server at the end.
    backends: u64,
    takeovers_per_second: Option<f64>,
}

/// Numbers of fd-core's proxy and of the other, if they tell: of connections to the server, and of takeovers
/// per second.
pub type Backends = [[Option<f64>; 2]; 2];

/// Runs fd-core's proxy and another one alternately.
///
/// # Errors
/// [`ErrorKind::NotFound`] if the other one is not installed; the error of a system call; a proxy does not
/// serve.
pub fn compare(other: Program, pairs: u32, sample: Duration) -> io::Result<(Vec<Row>, Backends)> {
    let both = alternately(pairs, || measure(Program::FdCore, sample), || measure(other, sample))?;
    let rows = vec![
        Row::of("requests per second of processor time", &both, |served| {
            served.requests as f64 / served.processor.as_secs_f64()
        }),
        Row::of("requests per second", &both, |served| served.requests as f64 / served.elapsed.as_secs_f64()),
        Row::of("latency of 99 %, microseconds", &both, |served| served.p99.as_secs_f64() * 1e6),
    ];
    let medians = |of: fn(&Served) -> Option<f64>| {
        [0, 1].map(|index| {
            let told: Option<Vec<_>> = both.iter().map(|pair| of(&pair[index])).collect();
            told.map(|numbers| median_and_interval(numbers)[0])
        })
    };
    let backends = medians(|served| Some(served.backends as f64));
    Ok((rows, [backends, medians(|served| served.takeovers_per_second)]))
}

fn measure(proxy: Program, time: Duration) -> io::Result<Served> {
    let behind = listener()?;
    let server_address = behind.local_addr()?;
    let server = fd_core(Protocol::Http, behind)?;
    let running = proxy.start(server_address)?;
    let begin = Instant::now();
    let note = || Ok((running.processor()?, (server.note)()?.requests, established(server_address)?));
    let length = length_of_answer(running.address)?;
    let load = under_load(Protocol::Http, length, running.address, time, note)?;
    let all = begin.elapsed();
    let takeovers = running.end()?;
    (server.stop)()?;
    let Load { notes: [before, after], elapsed, mut latencies } = load;
    latencies.sort_unstable();
    let p99 = *latencies.get(latencies.len() * 99 / 100).ok_or(ErrorKind::UnexpectedEof)?;
    let takeovers_per_second = takeovers.map(|takeovers| takeovers as f64 / all.as_secs_f64());
    let (processor, requests) = (after.0 - before.0, after.1 - before.1);
    Ok(Served { requests, elapsed, processor, p99, backends: after.2, takeovers_per_second })
}

/// The length of an answer: nginx adds headers, whose length does not change.
fn length_of_answer(proxy: SocketAddr) -> io::Result<usize> {
    let mut stream = TcpStream::connect(proxy)?;
    stream.write_all(Protocol::Http.request())?;
    let body = Protocol::Http.answer().rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
    let (mut answer, mut bytes) = (Vec::new(), [0; 4096]);
    // The body begins with the end of the head.
    while !answer.ends_with(body) {
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(io::Error::other(format!("it answers {:?}", String::from_utf8_lossy(&answer))));
        }
        answer.extend_from_slice(&bytes[..count]);
    }
    Ok(answer.len())
}

/// The number of connections that a listener of 127.0.0.1 has, by the kernel's table.
fn established(listener: SocketAddr) -> io::Result<u64> {
    const ESTABLISHED: &str = "01";
    // As the kernel prints the word of the address.
    let local = format!("{:08X}:{:04X}", u32::from_ne_bytes([127, 0, 0, 1]), listener.port());
    let table = fs::read_to_string("/proc/net/tcp")?;
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next() == Some(&local) && fields.nth(1) == Some(ESTABLISHED)
    };
    Ok(table.lines().filter(is_one).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_installed_proxies_serve_every_client() {
        for proxy in [Program::Haproxy, Program::Nginx] {
            match measure(proxy, Duration::from_millis(200)) {
                Ok(served) => {
                    assert!(served.requests > 0 && served.p99 > Duration::ZERO, "{proxy:?}: {served:?}");
                    assert!(
                        served.processor > Duration::ZERO && served.backends > 0,
                        "{proxy:?}: {served:?}"
                    );
                    assert_eq!(served.takeovers_per_second.is_some(), proxy == Program::Haproxy);
                }
                // Not `eprintln!`, whose output the harness captures. `.ci/run` counts the messages.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let name = proxy.name();
                    let _ = writeln!(io::stderr(), "not run: test of the proxy {name}: it is not installed");
                }
                Err(error) => panic!("{proxy:?}: {error}"),
            }
        }
    }
}
