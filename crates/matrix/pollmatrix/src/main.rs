//! The `pollmatrix` command.

fn main() -> std::process::ExitCode {
    pollmatrix::main()
}
