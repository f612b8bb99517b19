//! The first process of a Linux system that has nothing but this program: mounts what programs expect, loads
//! modules, starts the agent, and ends the machine when the agent ends.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::{Pid, sync};

use crate::output;
use crate::vm::emulator::PORT_NAME;
use crate::vm::initramfs::{EXECUTABLE, MODULES};

/// How long to wait for the port's device.
const PORT_TIME: Duration = Duration::from_secs(60);
/// The limit of descriptors that distributions set for services.
const DESCRIPTORS: u64 = 524_288;

/// The file systems that programs expect: type, place, options.
const MOUNTS: [(&str, &str, &str); 7] = [
    ("devtmpfs", "/dev", "mode=0755"),
    ("proc", "/proc", ""),
    ("sysfs", "/sys", ""),
    ("tmpfs", "/tmp", "mode=1777"),
    ("tmpfs", "/run", "mode=0755"),
    ("devpts", "/dev/pts", "mode=0620,ptmxmode=0666"),
    ("tmpfs", "/dev/shm", "mode=1777"),
];

/// Runs until the machine ends. `port` is `virtio`, the name of a serial port, or `none` for a shell on the
/// console.
pub fn run(port: &str, console: Option<&str>) -> ! {
    if let Err(error) = boot(port, console) {
        output::print_error_line(&format!("the guest cannot start: {error}"));
    }
    sync();
    // The emulator ends when the guest powers off, or else when it restarts.
    let _ = reboot(RebootMode::RB_POWER_OFF);
    let _ = reboot(RebootMode::RB_AUTOBOOT);
    std::process::exit(1)
}

fn boot(port: &str, console: Option<&str>) -> io::Result<()> {
    for (kind, place, options) in MOUNTS {
        fs::create_dir_all(place)?;
        mount(Some(kind), place, Some(kind), MsFlags::empty(), Some(options))
            .map_err(|error| io::Error::other(format!("cannot mount {place}: {error}")))?;
    }
    for (name, to) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        let _ = std::os::unix::fs::symlink(to, Path::new("/dev").join(name));
    }
    load_modules()?;
    raise_loopback()?;
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS)?;

    let console = console.map(|name| Path::new("/dev").join(name));
    let agent = match port {
        "none" => super::shell(Path::new(EXECUTABLE), console.as_deref())?,
        name => {
            let device = device(name)?;
            output::print_error_line(&format!("pollmatrix: the port is {}", device.display()));
            let mut agent = Command::new(EXECUTABLE);
            agent.args(["worker", "guest"]);
            if let Some(console) = &console {
                agent.arg("--console").arg(console);
            }
            let port = File::options().read(true).write(true).open(&device)?;
            // The port can be opened once only.
            agent.stdin(port.try_clone()?).stdout(port);
            super::environment(&mut agent).spawn()?
        }
    };
    reap_until(Pid::from_raw(i32::try_from(agent.id()).map_err(io::Error::other)?));
    Ok(())
}

/// Loads every module of the initramfs, in the order of their names.
fn load_modules() -> io::Result<()> {
    let Ok(entries) = fs::read_dir(MODULES) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = File::open(&path)?;
        match finit_module(&file, c"", ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(error) => {
                return Err(io::Error::other(format!("cannot load {}: {error}", path.display())));
            }
        }
    }
    Ok(())
}

/// Waits for the device of the port, which appears when its driver has found it.
fn device(name: &str) -> io::Result<PathBuf> {
    let began = Instant::now();
    loop {
        let found = match name {
            "virtio" => virtio_port(),
            serial => Some(Path::new("/dev").join(serial)).filter(|path| path.exists()),
        };
        if let Some(path) = found {
            return Ok(path);
        }
        if began.elapsed() > PORT_TIME {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no port {name}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn virtio_port() -> Option<PathBuf> {
    let ports = fs::read_dir("/sys/class/virtio-ports").ok()?;
    let is_ours =
        |path: &PathBuf| fs::read_to_string(path.join("name")).is_ok_and(|name| name.trim_end() == PORT_NAME);
    let port = ports.flatten().map(|entry| entry.path()).find(is_ours)?;
    Some(Path::new("/dev").join(port.file_name()?)).filter(|device| device.exists())
}

/// Switches the loopback interface on.
fn raise_loopback() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all bytes zero are a valid value of this plain C structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the descriptor is open, and `request` is what SIOCSIFFLAGS reads.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as libc::Ioctl, &raw const request) };
    Errno::result(result)?;
    Ok(())
}

/// Reaps every process until this one has ended. The first process inherits those without a parent.
fn reap_until(agent: Pid) {
    loop {
        match wait() {
            Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, _, _)) if pid == agent => return,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}
