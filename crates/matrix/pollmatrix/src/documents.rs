//! `pollmatrix worker documents`: the shell completions and the manual pages of a release, made from the
//! arguments.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use matrix::provenance::VERSION;

use crate::CommandLine;
use crate::error::Error;

const HELP: &str = "name a folder that can be written to";

/// Writes the completions into the folder's `completions`, and the manual pages into its `man/man1`.
pub fn write(folder: &Path) -> Result<ExitCode, Error> {
    into(folder).map_err(matrix::Error::io("write", folder, HELP))?;
    Ok(ExitCode::SUCCESS)
}

fn into(folder: &Path) -> io::Result<()> {
    let (completions, pages) = (folder.join("completions"), folder.join("man/man1"));
    std::fs::create_dir_all(&completions)?;
    std::fs::create_dir_all(&pages)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut shown(), "pollmatrix", &completions)?;
    }
    clap_mangen::generate_to(shown(), &pages)
}

/// Returns the command line without hidden commands, which clap_complete would offer.
fn shown() -> Command {
    let all = CommandLine::command();
    Command::new("pollmatrix")
        .version(VERSION)
        .about(Resettable::from(all.get_about().cloned()))
        .long_about(Resettable::from(all.get_long_about().cloned()))
        .after_help(Resettable::from(all.get_after_help().cloned()))
        .args(all.get_arguments())
        .subcommands(all.get_subcommands().filter(|command| !command.is_hide_set()))
}
