//! Debian packages that the routine needs, installed where they are missing.
//!
//! Never starts a service that a package brings: while packages are installed, a policy file says no. Installs only as root; anybody
//! else is told what to install.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, run};

/// Asked by `invoke-rc.d` before it starts a service; 101 means "forbidden".
const POLICY_FILE: &str = "/usr/sbin/policy-rc.d";

/// Whether a package is installed.
pub fn is_installed(package: &str) -> Result<bool> {
    let said = capture(Command::new("dpkg-query").args(["--show", "--showformat=${Status}", package]))
        .context("this routine needs Debian's packages")?;
    Ok(said.succeeded && said.stdout.trim() == "install ok installed")
}

/// The installed version of a package.
pub fn version_of(package: &str) -> Result<String> {
    let said = capture(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", package]))?;
    Ok(said.stdout.trim().to_owned())
}

/// The newest package of a family like `postgresql-doc-NN`: an installed one, else one that apt offers.
pub fn newest_of(family: &str) -> Result<Option<String>> {
    let installed = capture(Command::new("dpkg-query").args([
        "--show",
        "--showformat=${Package} ${Status}\n",
        &format!("{family}*"),
    ]))?;
    let installed = installed.stdout.lines().filter_map(|line| line.strip_suffix(" install ok installed"));
    if let Some(package) = highest_number(family, installed) {
        return Ok(Some(package));
    }
    let offered = || capture(Command::new("apt-cache").args(["pkgnames", family]));
    let mut names = offered()?.stdout;
    if highest_number(family, names.lines()).is_none() && is_root()? {
        update_lists()?;
        names = offered()?.stdout;
    }
    Ok(highest_number(family, names.lines()))
}

/// Of the names that are the family's prefix and a number, the one with the highest.
fn highest_number<'a>(family: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let numbered = names.filter_map(|name| Some((name.strip_prefix(family)?.parse::<u32>().ok()?, name)));
    numbered.max().map(|(_, name)| name.to_owned())
}

/// Installs what is missing of these packages.
///
/// # Errors
/// We are not root, or apt cannot install one of them.
pub fn install_missing(packages: &[String]) -> Result<()> {
    let mut missing = Vec::new();
    for package in packages {
        if !is_installed(package)? {
            missing.push(package.as_str());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root()? {
        bail!("please install: apt-get install --no-install-recommends {}", missing.join(" "));
    }
    let offers = capture(Command::new("apt-cache").arg("show").arg("--no-all-versions").args(&missing))?;
    if !offers.succeeded {
        update_lists()?;
    }
    let _no_services = ServicesForbidden::new()?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet=2", "--no-install-recommends"]).args(&missing);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

fn update_lists() -> Result<()> {
    run(Command::new("apt-get").args(["update", "--quiet=2"]))
}

fn is_root() -> Result<bool> {
    Ok(capture(Command::new("id").arg("-u"))?.stdout.trim() == "0")
}

/// While it lives, no package may start a service. A policy that the machine already has is left as it is.
struct ServicesForbidden {
    is_ours: bool,
}

impl ServicesForbidden {
    fn new() -> Result<Self> {
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(POLICY_FILE) {
            Ok(mut file) => {
                file.write_all(b"#!/bin/sh\nexit 101\n").with_context(|| format!("cannot write {POLICY_FILE}"))?;
                // The umask may have taken bits away.
                file.set_permissions(fs::Permissions::from_mode(0o755))?;
                Ok(Self { is_ours: true })
            }
            Err(_) if Path::new(POLICY_FILE).exists() => Ok(Self { is_ours: false }),
            Err(error) => Err(error).with_context(|| format!("cannot create {POLICY_FILE}")),
        }
    }
}

impl Drop for ServicesForbidden {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = fs::remove_file(POLICY_FILE)
        {
            eprintln!("xtask: {POLICY_FILE} is left behind: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_number_of_a_family_is_taken_and_others_are_passed_over() {
        let names = ["postgresql-doc-9", "postgresql-doc-15", "postgresql-doc", "postgresql-doc-15-extra", "nginx"];
        assert_eq!(highest_number("postgresql-doc-", names.into_iter()).as_deref(), Some("postgresql-doc-15"));
        assert_eq!(highest_number("postgresql-doc-", ["postgresql-doc"].into_iter()), None);
    }
}
