//! Descriptors of a child that has namespaces of its own: it may open packet sockets, mount, and change its
//! host's name, whoever runs the script, and nobody else sees it.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::ffi::CString;
    use std::io::IoSlice;
    use std::net::UdpSocket;
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
    use std::path::PathBuf;
    use std::time::Duration;

    use nix::errno::Errno;
    use nix::fcntl::{Flock, FlockArg};
    use nix::sys::socket::{
        AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, recv, sendmsg, socketpair,
    };
    use nix::sys::wait::waitpid;
    use nix::unistd::{ForkResult, Pid};

    use super::super::{Interpreter, call_failed, descriptors, errno_of, settle};
    use crate::Stopped;
    use crate::verbs::Private;

    /// What the child is asked for.
    const OPEN: u8 = b'o';
    const CHANGE: u8 = b'c';

    const HOSTNAME: &str = "/proc/sys/kernel/hostname";

    /// The child. It ends when this process closes the socket.
    pub(in super::super) struct Namespaces {
        pid: Pid,
        socket: Option<OwnedFd>,
    }

    impl Drop for Namespaces {
        fn drop(&mut self) {
            self.socket.take();
            // A forked child's copy of this value has no such child: it fails.
            let _ = waitpid(self.pid, None);
        }
    }

    impl Namespaces {
        /// Asks the child. Its answer is an error number, or 0 with the descriptor that it has opened.
        fn ask(&self, what: u8, kind: Private) -> Result<Option<OwnedFd>, Errno> {
            let Some(socket) = &self.socket else { return Err(Errno::EBADF) };
            let question = [what, kind as u8];
            sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&question)], &[], MsgFlags::empty(), None)?;
            let mut answer = [0; size_of::<i32>()];
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            let (bytes, passed) = descriptors::receive(socket, &mut answer, flags)?;
            let is_whole = bytes == size_of::<i32>();
            match i32::from_ne_bytes(answer) {
                0 if is_whole => Ok(passed),
                0 => Err(Errno::EPIPE),
                errno => Err(Errno::from_raw(errno)),
            }
        }
    }

    impl Interpreter {
        /// Makes a descriptor of the child, which is forked at the first use.
        pub(in super::super) fn private(&mut self, name: &str, kind: Private) -> Result<String, Stopped> {
            if self.namespaces.is_none() {
                self.namespaces = Some(self.new_namespaces()?);
            }
            let opened = self.namespaces.as_ref().map(|namespaces| namespaces.ask(OPEN, kind));
            let refused = |errno| {
                let why = format!("needs namespaces of its own, and gets {errno:?} in place of {kind}");
                Stopped::Unsupported(why)
            };
            let fd = opened.unwrap_or(Err(Errno::EBADF)).map_err(refused)?;
            let fd = fd.ok_or_else(|| refused(Errno::ENOENT))?;
            self.add_actor(name, fd)?.private = Some(kind);
            Ok("ok".into())
        }

        /// Brings about what a descriptor of the child reports, and waits until it has arrived.
        pub(in super::super) fn changes(&self, kind: Private, fd: &OwnedFd) -> Result<(), Stopped> {
            let asked = self.namespaces.as_ref().map(|namespaces| namespaces.ask(CHANGE, kind));
            let done = asked.unwrap_or(Err(Errno::EBADF));
            done.map_err(|errno| call_failed("a change in namespaces of its own", errno))?;
            match kind {
                Private::Packet | Private::Raw | Private::Netlink | Private::MessageQueue => {
                    settle::wait_for(fd, settle::READABLE, "the message", self.setting.patience)
                }
                // It gets nothing, or a look would take what it has.
                Private::OtherPacket | Private::Mounts | Private::Hostname | Private::DomainName => Ok(()),
            }
        }

        fn new_namespaces(&mut self) -> Result<Namespaces, Stopped> {
            let failed = |errno| call_failed("socketpair", errno);
            let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
            let (ours, theirs) = pair.map_err(failed)?;
            let directory = self.scratch.path()?;
            std::fs::create_dir(&directory).map_err(|error| call_failed("a directory", error))?;
            match self.fork()? {
                ForkResult::Parent { child: pid } => {
                    drop(theirs);
                    Ok(Namespaces { pid, socket: Some(ours) })
                }
                ForkResult::Child => {
                    drop(ours);
                    self.actors.values_mut().for_each(|actor| drop(actor.fd.take()));
                    serve(&theirs, directory)
                }
            }
        }
    }

    /// Answers until the other end is closed, in a child.
    fn serve(socket: &OwnedFd, directory: PathBuf) -> ! {
        let entered = enter();
        let mut host = entered.and_then(|()| Host::new(directory));
        loop {
            let mut question = [0; 2];
            if recv(socket.as_raw_fd(), &mut question, MsgFlags::empty()) != Ok(question.len()) {
                super::super::children::exit_child(0);
            }
            let kind = Private::ALL.into_iter().find(|kind| *kind as u8 == question[1]);
            let answer = match (&mut host, kind) {
                (Err(errno), _) => Err(*errno),
                (Ok(_), None) => Err(Errno::EINVAL),
                (Ok(host), Some(kind)) if question[0] == OPEN => host.open(kind).map(Some),
                (Ok(host), Some(kind)) => host.change(kind).map(|()| None),
            };
            let number = answer.as_ref().err().map_or(0, |errno| *errno as i32).to_ne_bytes();
            let passed = answer.ok().flatten();
            let numbers: Vec<_> = passed.iter().map(AsRawFd::as_raw_fd).collect();
            let messages = [ControlMessage::ScmRights(&numbers)];
            let messages = if numbers.is_empty() { &messages[..0] } else { &messages[..] };
            let bytes = [IoSlice::new(&number)];
            let sent = sendmsg::<()>(socket.as_raw_fd(), &bytes, messages, MsgFlags::MSG_NOSIGNAL, None);
            if sent.is_err() {
                super::super::children::exit_child(1);
            }
        }
    }

    /// Enters new namespaces of users, network, mounts, names and queues, and switches the loopback interface
    /// on.
    fn enter() -> Result<(), Errno> {
        // SAFETY: both calls take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let all = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC;
        // SAFETY: unshare takes no pointer.
        let unshare = |which| Errno::result(unsafe { libc::unshare(which) }).map(drop);
        match unshare(all | libc::CLONE_NEWUSER) {
            Ok(()) => {
                let written = |file, text: String| std::fs::write(file, text).map_err(errno_of);
                written("/proc/self/setgroups", "deny".into())?;
                written("/proc/self/uid_map", format!("0 {user} 1"))?;
                written("/proc/self/gid_map", format!("0 {group} 1"))?;
            }
            // Without namespaces of users, root still may.
            Err(_) => unshare(all)?,
        }
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        // SAFETY: the strings end with a zero byte; the kernel uses none of the null pointers with these
        // flags.
        let private = unsafe {
            libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), flags, std::ptr::null())
        };
        Errno::result(private)?;
        let mut request = loopback();
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as _;
        of_interface(libc::SIOCSIFFLAGS as _, &mut request)
    }

    fn loopback() -> libc::ifreq {
        // SAFETY: a request of zero bytes is valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name[0] = b'l' as _;
        request.ifr_name[1] = b'o' as _;
        request
    }

    fn of_interface(what: libc::Ioctl, request: &mut libc::ifreq) -> Result<(), Errno> {
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
        // SAFETY: the request is initialised and lives as long as the call.
        Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut *request) }).map(drop)
    }

    fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Result<OwnedFd, Errno> {
        // SAFETY: socket takes no pointer.
        let made = unsafe { libc::socket(family, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) };
        // SAFETY: socket has just made this descriptor, and nothing else owns it.
        Errno::result(made).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn open(kind: Private) -> Result<OwnedFd, Errno> {
        let packets = |protocol: libc::c_int| {
            socket(libc::AF_PACKET, libc::SOCK_DGRAM, (protocol as u16).to_be().into())
        };
        match kind {
            Private::Packet => packets(libc::ETH_P_IP),
            Private::OtherPacket => packets(libc::ETH_P_PUP),
            Private::Raw => {
                let raw = socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_UDP)?;
                let to = nix::sys::socket::SockaddrIn::new(127, 0, 0, 1, 0);
                nix::sys::socket::connect(raw.as_raw_fd(), &to).map(|()| raw)
            }
            Private::Netlink => {
                let netlink = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
                let address = nix::sys::socket::NetlinkAddr::new(0, libc::RTMGRP_LINK as u32);
                nix::sys::socket::bind(netlink.as_raw_fd(), &address).map(|()| netlink)
            }
            Private::MessageQueue => message_queue(libc::O_CREAT | libc::O_EXCL),
            Private::Mounts => descriptors::read_only("/proc/self/mounts"),
            Private::Hostname => descriptors::read_only(HOSTNAME),
            Private::DomainName => descriptors::read_only("/proc/sys/kernel/domainname"),
        }
    }

    /// Opens the child's only message queue.
    fn message_queue(flags: libc::c_int) -> Result<OwnedFd, Errno> {
        // SAFETY: attributes of zero bytes are valid.
        let mut room: libc::mq_attr = unsafe { std::mem::zeroed() };
        (room.mq_maxmsg, room.mq_msgsize) = (2, 1);
        let flags = flags | libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let mode: libc::c_uint = 0o600;
        // SAFETY: the name ends with a zero byte, and the attributes live as long as the call.
        let made = unsafe { libc::mq_open(c"/pollmatrix".as_ptr(), flags, mode, &raw const room) };
        // SAFETY: mq_open has just made this descriptor, and nothing else owns it. It is one on this system.
        Errno::result(made).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// What the child changes.
    struct Host {
        /// A directory on which every second change mounts.
        directory: CString,
        is_mounted: bool,
        /// A receiver of the datagrams that pass the loopback interface.
        receiver: UdpSocket,
        changes: u32,
        /// Pollers of a name are told of the changes in every namespace: one script at a time has one.
        names: Option<Flock<OwnedFd>>,
    }

    impl Host {
        fn new(directory: PathBuf) -> Result<Self, Errno> {
            use std::os::unix::ffi::OsStringExt;
            let receiver = UdpSocket::bind(("127.0.0.1", 0)).map_err(errno_of)?;
            receiver.set_read_timeout(Some(Duration::from_secs(5))).map_err(errno_of)?;
            let directory = directory.into_os_string().into_vec();
            let directory = CString::new(directory).map_err(|_| Errno::EINVAL)?;
            Ok(Self { directory, is_mounted: false, receiver, changes: 0, names: None })
        }

        fn open(&mut self, kind: Private) -> Result<OwnedFd, Errno> {
            if matches!(kind, Private::Hostname | Private::DomainName) && self.names.is_none() {
                let name = descriptors::read_only(HOSTNAME)?;
                self.names = Some(Flock::lock(name, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?);
            }
            open(kind)
        }

        fn change(&mut self, kind: Private) -> Result<(), Errno> {
            self.changes += 1;
            let name = format!("changed-{}", self.changes);
            match kind {
                // The other sockets get a datagram before the receiver does.
                Private::Packet | Private::OtherPacket | Private::Raw => {
                    let to = self.receiver.local_addr().map_err(errno_of)?;
                    self.receiver.send_to(b"datagram", to).map_err(errno_of)?;
                    self.receiver.recv(&mut [0; 8]).map(drop).map_err(errno_of)
                }
                Private::MessageQueue => {
                    let queue = message_queue(0)?;
                    // SAFETY: pointer and length are those of a live string.
                    Errno::result(unsafe { libc::mq_send(queue.as_raw_fd(), c".".as_ptr(), 1, 0) }).map(drop)
                }
                Private::Netlink => {
                    let mut request = loopback();
                    // The size of the largest packet. It differs from the one before.
                    request.ifr_ifru.ifru_mtu = 1500 + self.changes as libc::c_int;
                    of_interface(libc::SIOCSIFMTU as _, &mut request)
                }
                Private::Mounts => {
                    let (target, none) = (self.directory.as_ptr(), std::ptr::null());
                    self.is_mounted = !self.is_mounted;
                    // SAFETY: the strings end with a zero byte, and the file system needs no data.
                    let done = unsafe {
                        match self.is_mounted {
                            true => libc::mount(c"none".as_ptr(), target, c"tmpfs".as_ptr(), 0, none),
                            false => libc::umount2(target, 0),
                        }
                    };
                    Errno::result(done).map(drop)
                }
                Private::Hostname => {
                    // SAFETY: pointer and length are those of a live string.
                    Errno::result(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
                }
                Private::DomainName => {
                    // SAFETY: pointer and length are those of a live string.
                    Errno::result(unsafe { libc::setdomainname(name.as_ptr().cast(), name.len()) }).map(drop)
                }
            }
        }
    }

    /// Writes a request for all addresses of the socket's network. The answer arrives with it.
    pub(in super::super) fn ask_for_addresses(netlink: &impl AsFd) -> Result<(), Errno> {
        const LENGTH: usize = 24;
        let mut request = Vec::with_capacity(LENGTH);
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
        request.extend((LENGTH as u32).to_ne_bytes());
        request.extend(libc::RTM_GETADDR.to_ne_bytes());
        request.extend(flags.to_ne_bytes());
        // The sequence number and the sender; then the family, which is any, and zeros.
        request.resize(LENGTH, 0);
        nix::unistd::write(netlink, &request).map(drop)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::{Namespaces, ask_for_addresses};

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod elsewhere {
    use std::os::fd::{AsFd, OwnedFd};

    use nix::errno::Errno;

    use super::super::Interpreter;
    use crate::Stopped;
    use crate::verbs::Private;

    impl Interpreter {
        pub(in super::super) fn private(&mut self, _: &str, kind: Private) -> Result<String, Stopped> {
            Err(Stopped::Unsupported(format!("{kind} is available on Linux only")))
        }

        pub(in super::super) fn changes(&self, kind: Private, _: &OwnedFd) -> Result<(), Stopped> {
            Err(Stopped::Unsupported(format!("{kind} is available on Linux only")))
        }
    }

    pub(in super::super) fn ask_for_addresses(_: &impl AsFd) -> Result<(), Errno> {
        Err(Errno::ENOSYS)
    }
}
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use elsewhere::ask_for_addresses;
