//! The command lines of the emulators.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::description::{Emulator, Machine, Port};
use super::initramfs::EXECUTABLE;

/// The name of the virtio port in the guest.
pub const PORT_NAME: &str = "pollmatrix";
/// The file with the console's output, in the folder of the running machine.
pub const CONSOLE_LOG: &str = "console.log";
/// The socket of the console, in the folder of the running machine.
pub const CONSOLE_SOCKET: &str = "console.sock";
/// The socket that controls the emulator, in the folder of the running machine.
pub const CONTROL_SOCKET: &str = "control.sock";

/// How the processor is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accelerator {
    /// By the hardware, through Linux's KVM.
    Kvm,
    /// By software.
    Software,
    /// The guest is a program of the host.
    Program,
}

/// A way to start the emulator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// How the processor is run.
    pub accelerator: Accelerator,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// What to boot.
pub struct Boot<'a> {
    /// The kernel. `None`: the emulator's program is the kernel, as it is installed.
    pub kernel: Option<&'a Path>,
    /// The initramfs.
    pub initramfs: &'a Path,
    /// The device for commands and results.
    pub port: &'a Port,
    /// The terminal for the kernel's messages.
    pub console: &'a str,
}

/// The purpose of a machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Cells: the port is the emulator's standard input and output.
    Cells,
    /// A shell: the console is the emulator's standard input and output.
    Shell,
}

/// Returns the ways to start a machine with a kernel, the fastest first.
pub fn starts(machine: &Machine, boot: &Boot<'_>, run: &Path, purpose: Purpose) -> Vec<Start> {
    match machine.emulator {
        Emulator::Uml => vec![uml(machine, boot, purpose)],
        Emulator::Qemu => accelerators(machine)
            .into_iter()
            .map(|how| qemu_kernel(machine, boot, run, purpose, how))
            .collect(),
    }
}

fn accelerators(machine: &Machine) -> Vec<Accelerator> {
    let kvm = machine.arch == std::env::consts::ARCH
        && std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
    let kvm = kvm.then_some(Accelerator::Kvm);
    kvm.into_iter().chain([Accelerator::Software]).collect()
}

/// Returns the arguments that every machine of qemu has.
fn qemu(machine: &Machine, run: &Path, accelerator: Accelerator) -> Vec<String> {
    let (how, cpu) = match accelerator {
        Accelerator::Kvm => ("kvm", "host"),
        _ => ("tcg,thread=multi", "max"),
    };
    let mut arguments = words(&["-accel", how, "-no-reboot", "-nodefaults", "-display", "none"]);
    arguments.extend(words(&["-m", &machine.memory.to_string(), "-smp", &machine.processors.to_string()]));
    arguments.push("-qmp".to_owned());
    arguments.push(format!("unix:{},server=on,wait=off", comma(&run.join(CONTROL_SOCKET))));
    arguments.extend(machine.options.iter().cloned());
    // qemu uses the last one. KVM runs no other processor than the host's.
    if !machine.options.iter().any(|option| option == "-cpu") || accelerator == Accelerator::Kvm {
        arguments.extend(words(&["-cpu", cpu]));
    }
    arguments
}

fn qemu_kernel(
    machine: &Machine,
    boot: &Boot<'_>,
    run: &Path,
    purpose: Purpose,
    accelerator: Accelerator,
) -> Start {
    let mut arguments = qemu(machine, run, accelerator);
    if let Some(kernel) = boot.kernel {
        arguments.extend(["-kernel".to_owned(), kernel.display().to_string()]);
    }
    arguments.extend(["-initrd".to_owned(), boot.initramfs.display().to_string()]);
    // Its check of timers fails if the host gives the emulator no time for a few milliseconds.
    let no_check = if machine.arch == "x86_64" { "no_timer_check " } else { "" };
    arguments.extend(["-append".to_owned(), format!("{no_check}{}", kernel_arguments(boot, purpose))]);
    match purpose {
        Purpose::Shell => arguments.extend(words(&["-serial", "mon:stdio"])),
        Purpose::Cells => {
            let (socket, log) = (comma(&run.join(CONSOLE_SOCKET)), comma(&run.join(CONSOLE_LOG)));
            arguments.extend([
                "-chardev".to_owned(),
                format!("socket,id=console,path={socket},server=on,wait=off,logfile={log}"),
                "-serial".to_owned(),
                "chardev:console".to_owned(),
                "-chardev".to_owned(),
                "stdio,id=port,signal=off".to_owned(),
            ]);
            arguments.extend(match boot.port {
                Port::Virtio => words(&[
                    "-device",
                    "virtio-serial-pci",
                    "-device",
                    &format!("virtserialport,chardev=port,name={PORT_NAME}"),
                ]),
                Port::Serial(_) => words(&["-serial", "chardev:port"]),
            });
        }
    }
    Start { accelerator, program: machine.program(), arguments }
}

fn uml(machine: &Machine, boot: &Boot<'_>, purpose: Purpose) -> Start {
    let mut arguments = vec![
        format!("mem={}M", machine.memory),
        format!("initrd={}", boot.initramfs.display()),
        "con=null".to_owned(),
        "ssl=null".to_owned(),
        // Otherwise it adds one behind the arguments of the first process.
        "root=/dev/ram0".to_owned(),
    ];
    arguments.extend(match purpose {
        Purpose::Shell => words(&["con0=fd:0,fd:1"]),
        // Standard error takes the kernel's messages.
        Purpose::Cells => words(&["con0=null,fd:2", "ssl0=fd:0,fd:1"]),
    });
    arguments.extend(machine.options.iter().cloned());
    arguments.extend(kernel_arguments(boot, purpose).split(' ').map(str::to_owned));
    let program = boot.kernel.map_or_else(|| machine.program(), Path::to_path_buf);
    Start { accelerator: Accelerator::Program, program, arguments }
}

/// Returns the kernel's command line. The words after `--` are the arguments of the first process.
fn kernel_arguments(boot: &Boot<'_>, purpose: Purpose) -> String {
    let console = boot.console;
    let port = match (purpose, boot.port) {
        (Purpose::Shell, _) => "none",
        (_, Port::Virtio) => "virtio",
        (_, Port::Serial(device)) => device,
    };
    format!(
        "console={console} panic=-1 rdinit={EXECUTABLE} -- worker guest --console {console} --init {port}"
    )
}

/// Doubles the commas of a path, as qemu's options need it.
fn comma(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kvm_runs_the_processor_of_the_host_whatever_the_description_names() {
        let machine = Machine::load("debian-6-12-arm64").unwrap();
        let last = |accelerator| {
            let arguments = qemu(&machine, Path::new("/run"), accelerator);
            let at = arguments.iter().rposition(|argument| argument == "-cpu").unwrap();
            arguments[at + 1].clone()
        };
        assert_eq!(last(Accelerator::Kvm), "host");
        assert_eq!(last(Accelerator::Software), "cortex-a57");
    }
}
