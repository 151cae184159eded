//! `lohisoftbot check`: the configuration and the identity, explained, before anything is crawled.
//!
//! Sends nothing and changes nothing. Each finding is one line with what to do about it. Exit code 0: nothing stands in
//! the way; 1: a problem does; 2: the configuration cannot be read.

use std::fmt;
use std::io::Write;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;

use lohisoftbot_core::config::Config;

use crate::config_file::{self, LoadedConfig, ValueSource};

mod findings;

pub use findings::findings;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Works, and is not what the operator promises in public.
    Warning,
    /// The node will not do its work.
    Problem,
}

/// One thing that the check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub gravity: Gravity,
    /// The key that it is about.
    pub key: &'static str,
    /// What was found, and what to do.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.gravity {
            Gravity::Good => "good",
            Gravity::Note => "note",
            Gravity::Warning => "warning",
            Gravity::Problem => "problem",
        };
        write!(f, "{word:<8} {}: {}", self.key, self.text)
    }
}

/// What a check can ask of the machine; tests answer in its place.
pub trait Machine {
    /// Whether this machine has that address.
    fn holds_address(&self, address: Ipv4Addr) -> bool;
    /// Why a file cannot be read, if it cannot.
    fn unreadable(&self, path: &Path) -> Option<String>;
    /// Why nothing can be kept in that folder, if nothing can. The folder need not exist yet.
    fn unwritable(&self, folder: &Path) -> Option<String>;
}

/// The machine that this process runs on.
#[derive(Clone, Copy, Debug)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn holds_address(&self, address: Ipv4Addr) -> bool {
        holds_address(address)
    }

    fn unreadable(&self, path: &Path) -> Option<String> {
        std::fs::File::open(path).err().map(|error| error.to_string())
    }

    fn unwritable(&self, folder: &Path) -> Option<String> {
        // What does not exist yet is made in the nearest folder that does.
        let existing = folder.ancestors().find(|path| path.as_os_str().is_empty() || path.exists());
        let existing = existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !existing.is_dir() {
            return Some(format!("{} is no folder", existing.display()));
        }
        let may = rustix::fs::access(existing, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK);
        may.err().map(|error| format!("{}: {error}", existing.display()))
    }
}

/// Whether this machine has that address: only then can a socket be bound to it. Nothing is sent.
pub fn holds_address(address: Ipv4Addr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// All that is to say about a configuration on this machine.
pub fn run_check(config: &Config) -> Vec<Finding> {
    findings(config, &ThisMachine)
}

/// The whole command: reads the configuration at `path`, writes it and the findings to `out`. Returns the exit code.
pub fn main(path: &Path, out: &mut impl Write, err: &mut impl Write) -> std::io::Result<u8> {
    let loaded = match config_file::load(path, std::env::vars_os()) {
        Ok(loaded) => loaded,
        Err(error) => {
            writeln!(err, "{error}")?;
            return Ok(2);
        }
    };
    write_settings(&loaded, out)?;
    let found = run_check(&loaded.config);
    for finding in &found {
        writeln!(out, "{finding}")?;
    }
    let num_problems = found.iter().filter(|finding| finding.gravity == Gravity::Problem).count();
    let num_warnings = found.iter().filter(|finding| finding.gravity == Gravity::Warning).count();
    writeln!(out, "\nproblems: {num_problems}, warnings: {num_warnings}")?;
    Ok(u8::from(num_problems > 0))
}

/// Every key with its value, and where the value comes from.
fn write_settings(loaded: &LoadedConfig, out: &mut impl Write) -> std::io::Result<()> {
    let values = toml::Table::try_from(&loaded.config).expect("the settings are plain tables with text keys");
    for (section, keys) in values.iter().filter_map(|(section, keys)| Some((section, keys.as_table()?))) {
        for (key, value) in keys {
            let source = match loaded.sources.get(&format!("{section}.{key}")) {
                Some(ValueSource::Line(line)) => format!("{} line {line}", loaded.path.display()),
                Some(ValueSource::Environment(variable)) => format!("environment variable {variable}"),
                None => "default".to_owned(),
            };
            writeln!(out, "{section}.{key} = {value}  # {source}")?;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> (u8, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = main(&path, &mut out, &mut err).unwrap();
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn loopback_addresses_are_held_and_those_of_documentation_are_not() {
        assert!(holds_address(Ipv4Addr::LOCALHOST));
        assert!(!holds_address(Ipv4Addr::new(192, 0, 2, 1)));
    }

    #[test]
    fn foreign_identity_is_a_problem_and_ends_with_1() {
        // An address of documentation, which no machine holds: the test is to hold on LohiSoft's own as well.
        let foreign = include_str!("../../config.toml").replace("79.139.58.98", "192.0.2.1");
        let (code, out, err) = check(&foreign);
        assert_eq!((code, err.as_str()), (1, ""));
        let is_refusal = |line: &&str| line.starts_with("problem") && line.contains("does not hold 192.0.2.1");
        let refusal = out.lines().find(is_refusal).unwrap_or_else(|| panic!("{out}"));
        assert!(refusal.contains("enforce = false"), "{refusal}");
        assert!(out.contains("budget.page_requests = 20  # ") && out.contains("config.toml line "), "{out}");
    }

    #[test]
    fn identity_of_ones_own_ends_with_0() {
        let (code, out, _) = check(
            "[identity]\nproduct = \"OtherBot\"\ncontact = \"bot@other-bot.org\"\ninfo_url = \"https://other-bot.org/\"\n\
             addresses = {}\nenforce = false\n[store]\ndata_dir = \"/tmp\"\n",
        );
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("warning  identity.enforce") && out.contains("problems: 0"), "{out}");
        assert!(out.contains("politeness.min_delay = \"5s\"  # default"), "{out}");
    }

    #[test]
    fn configuration_that_cannot_be_read_ends_with_2() {
        let (code, out, err) = check("[budget]\npage_requests = 21\nfoo = 1\n");
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 2), "{err}");
    }
}
