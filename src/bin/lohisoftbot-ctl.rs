//! Asks a running node. See `lohisoftbot-ctl --help`.

fn main() -> std::process::ExitCode {
    lohisoftbot::ctl::main()
}
