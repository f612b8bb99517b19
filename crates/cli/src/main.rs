//! The `pollmatrix` command.

fn main() -> std::process::ExitCode {
    cli::main()
}
