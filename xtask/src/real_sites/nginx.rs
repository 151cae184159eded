//! An nginx of our own: its configuration, its life, its access log.
//!
//! It never touches the system's nginx: configuration, pid file, logs and temporary files lie in the routine's folder, and it listens on
//! loopback addresses only. It ends with the guard, and with its parent whatever happens to the guard.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::doc_sets::RealSite;
use super::packages;
use crate::command::ending_with_us;

/// How long nginx may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// One line an answer. `$msec` is taken when the answer has been handed over, `$request_time` counts from the request's first byte.
const LOG_FORMAT: &str = concat!(
    r#"{"site":"$server_name","host":"$host","ended":"$msec","took":"$request_time","method":"$request_method","#,
    r#""path":"$request_uri","status":"$status","agent":"$http_user_agent","remote":"$remote_addr","#,
    r#""cookie":"$http_cookie","authorization":"$http_authorization","referer":"$http_referer"}"#
);

/// A running nginx.
pub struct Nginx {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Nginx {
    /// Starts it on the sites' addresses, all on one free port, with its files below `folder`.
    ///
    /// # Errors
    /// nginx cannot be installed or started, or does not listen in time.
    pub fn start(sites: &[RealSite], folder: &Path) -> Result<Self> {
        let program = program()?;
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let port = free_port(sites)?;
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration(sites, folder, port))
            .with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = ending_with_us(&program);
        command.arg("-p").arg(folder).arg("-c").arg(&file);
        command.arg("-e").arg(folder.join("error.log")).stdin(Stdio::null());
        let child = command.spawn().context("cannot start nginx")?;
        let mut nginx = Self { child, folder: folder.to_owned(), port };
        for site in sites {
            nginx.wait_until_listening(SocketAddrV4::new(site.address, port))?;
        }
        Ok(nginx)
    }

    /// The port that all sites are served on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The access log so far.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn access_log(&self) -> Result<String> {
        let file = self.folder.join("access.log");
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    fn wait_until_listening(&mut self, address: SocketAddrV4) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        // A connection without a request leaves no line in the access log.
        while TcpStream::connect_timeout(&address.into(), START_TIMEOUT).is_err() {
            if let Some(status) = self.child.try_wait()? {
                let said = fs::read_to_string(self.folder.join("error.log")).unwrap_or_default();
                bail!("nginx ended with {status}: {said}");
            }
            if Instant::now() > deadline {
                bail!("nginx does not listen on {address} after {START_TIMEOUT:?}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Without a master process there is one process, so this ends all of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// nginx, installed where it is missing. `/usr/sbin` is often not on the path.
fn program() -> Result<PathBuf> {
    let places = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"];
    let found = || places.iter().map(PathBuf::from).find(|place| place.exists());
    if found().is_none() {
        packages::install_missing(&["nginx".to_owned()])?;
    }
    found().context("package nginx is installed, but there is no nginx")
}

/// A port that is free on every site's address.
fn free_port(sites: &[RealSite]) -> Result<u16> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        let Some(first) = sites.first() else { bail!("there is no site to serve") };
        let listener =
            TcpListener::bind((first.address, 0)).with_context(|| format!("cannot listen on {}", first.address))?;
        let port = listener.local_addr()?.port();
        if sites.iter().skip(1).all(|site| TcpListener::bind((site.address, port)).is_ok()) {
            return Ok(port);
        }
    }
    bail!("found no port that is free on all of the sites' addresses");
}

fn configuration(sites: &[RealSite], folder: &Path, port: u16) -> String {
    let folder = folder.display();
    let mut text = format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log warn;\n\
         events {{ worker_connections 256; }}\n\
         http {{\n  log_format evidence escape=json '{LOG_FORMAT}';\n  access_log {folder}/access.log evidence;\n\
         \x20 client_body_temp_path {folder}/body;\n  proxy_temp_path {folder}/proxy;\n  fastcgi_temp_path {folder}/fastcgi;\n\
         \x20 uwsgi_temp_path {folder}/uwsgi;\n  scgi_temp_path {folder}/scgi;\n\
         \x20 types {{ text/html html; text/css css; text/plain txt; image/png png; image/svg+xml svg; }}\n\
         \x20 default_type application/octet-stream;\n  gzip on;\n  gzip_min_length 1k;\n"
    );
    for site in sites {
        let (host, address) = (site.host, site.address);
        let (root, overlay) = (site.root.display(), site.overlay.display());
        let home = if site.has_home_overlay {
            format!("    location = / {{ root {overlay}; try_files /index.html =404; }}\n")
        } else {
            String::new()
        };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  server {{\n    listen {address}:{port};\n    server_name {host};\n    root {root};\n    index index.html;\n{home}\
             \x20   location = /robots.txt {{ root {overlay}; }}\n  }}\n"
        );
    }
    text.push_str("}\n");
    text
}
