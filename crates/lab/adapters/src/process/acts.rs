//! The acts of an adapter that makes the descriptors under test itself.

use std::os::fd::RawFd;

use metadata::Transport;
use nix::errno::Errno;
use selector::{Act, Acted, Acts, Changed, Unsupported};

use super::conversation::AdapterError;
use super::wire::{Answer, Command};
use super::{Process, first_errno, lock};

impl Acts for Process {
    fn kinds(&self) -> &[Transport] {
        &self.acts
    }

    fn act(&self, fd: RawFd, act: &Act) -> Result<Result<Acted, Errno>, Unsupported> {
        let command = Command::act(fd, act).map_err(|kind| {
            Unsupported(format!("the protocol has no descriptors of the kind {}", kind.name()))
        })?;
        let Some(mut conversation) = self.between_commands()? else { return Ok(Err(Errno::EPROTO)) };
        let answer = conversation.request(&command, self.patience);
        let acted = match (act, answer) {
            (Act::Read(most) | Act::Write(most), Ok(Answer::Count(count))) if count <= *most => {
                Acted::Count(count)
            }
            (Act::Bind(_) | Act::Listen { .. }, Ok(Answer::Address(address))) => Acted::Address(address),
            (
                Act::Read(_) | Act::Write(_) | Act::Bind(_) | Act::Listen { .. },
                Ok(answer @ Answer::Ok {}),
            ) => {
                self.reject(&conversation, &AdapterError::WrongAnswer { answer: answer.to_string() });
                return Ok(Err(Errno::EPROTO));
            }
            (_, answer) => match self.changed(&conversation, answer) {
                Changed::Done => Acted::Done,
                Changed::Unsupported(unsupported) => return Err(unsupported),
                Changed::Refused(refusals) => return Ok(Err(first_errno(&refusals))),
            },
        };
        let mut copies = lock(&self.copies);
        match act {
            Act::Open(_) | Act::Listen { .. } | Act::Accept(_) => drop(copies.insert(fd, true)),
            Act::OpenPipe(writer) => copies.extend([(fd, true), (*writer, true)]),
            Act::Close => drop(copies.insert(fd, false)),
            _ => {}
        }
        Ok(Ok(acted))
    }
}
