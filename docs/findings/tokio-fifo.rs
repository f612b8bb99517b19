//! tokio 1.54: a FIFO that has lost its last writer stays ready, and has no data. Run it with
//! `cargo test -p pollmatrix-adapters --test tokio-fifo`.

#![allow(clippy::print_stdout, reason = "it shows what it finds")]

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use tokio::net::unix::pipe;

fn main() -> io::Result<()> {
    if cfg!(not(target_os = "linux")) {
        println!("measured over epoll only");
        return Ok(());
    }
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(run())
}

async fn run() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("fifo");
    nix::unistd::mkfifo(&path, Mode::S_IRWXU)?;
    let reader = pipe::OpenOptions::new().open_receiver(&path)?;
    let mut first = OpenOptions::new().write(true).open(&path)?;
    first.write_all(b"x")?;
    drop(first);
    reader.readable().await?;
    println!("{:?} {:?}", reader.try_read(&mut [0; 8]), reader.try_read(&mut [0; 8]));
    let _second = OpenOptions::new().write(true).open(&path)?;
    let (begin, mut calls) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_millis(200) {
        // Without the mistake, this waits for a byte that nobody writes.
        reader.readable().await?;
        assert_eq!(reader.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        calls += 1;
    }
    println!("readable() returned {calls} times without data");
    assert!(calls > 1);
    Ok(())
}
