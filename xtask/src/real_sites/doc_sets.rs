//! The documentation that plays the part of real web sites, and the pages laid over it.
//!
//! The packages' own files are served as they are and never changed; what is added lies in a folder of its own.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::packages;

/// Which package to take.
enum Package {
    /// This one.
    Exact(&'static str),
    /// The newest whose name is this prefix and a number.
    Newest(&'static str),
}

/// Where the home page comes from.
enum Home {
    /// The package has an index.html of its own.
    Own,
    /// The package has a folder per language and no page that links them: one is laid over it, under this title.
    LinksLanguages(&'static str),
}

/// One documentation package, served as one site.
struct DocSet {
    host: &'static str,
    package: Package,
    /// Folder below the package's documentation folder.
    folder: &'static str,
    home: Home,
    /// A robots.txt to serve: packages have none, and a site without one is served a 404 for it.
    robots_txt: Option<&'static str>,
    /// What that robots.txt forbids, as a path prefix, for the check of the access log.
    forbidden: Option<&'static str>,
}

const DOC_SETS: [DocSet; 6] = [
    DocSet {
        host: "handbook.test",
        package: Package::Exact("debian-handbook"),
        folder: "html",
        home: Home::LinksLanguages("The Debian Administrator's Handbook in its languages"),
        robots_txt: None,
        forbidden: None,
    },
    // Two languages of it once more as sites of their own: a home page of 26 languages leaves no budget for what lies below them.
    DocSet {
        host: "handbook-ro.test",
        package: Package::Exact("debian-handbook"),
        folder: "html/ro-RO",
        home: Home::Own,
        robots_txt: None,
        forbidden: None,
    },
    DocSet {
        host: "handbook-zh.test",
        package: Package::Exact("debian-handbook"),
        folder: "html/zh-CN",
        home: Home::Own,
        robots_txt: None,
        forbidden: None,
    },
    DocSet {
        host: "installguide.test",
        package: Package::Exact("installation-guide-amd64"),
        folder: "",
        home: Home::LinksLanguages("The Debian Installation Guide in its languages"),
        robots_txt: None,
        forbidden: None,
    },
    DocSet {
        host: "git.test",
        package: Package::Exact("git-doc"),
        folder: "",
        home: Home::Own,
        robots_txt: None,
        forbidden: None,
    },
    DocSet {
        host: "postgres.test",
        package: Package::Newest("postgresql-doc-"),
        folder: "html",
        home: Home::Own,
        robots_txt: Some("User-agent: *\nDisallow: /tutorial\n"),
        forbidden: Some("/tutorial"),
    },
];

/// Languages that stand first on a laid-over home page: their letters are what the routine looks for in the store.
const FIRST_LANGUAGES: [&str; 4] = ["ro-RO", "zh-CN", "ro", "zh_CN"];

/// A documentation package that is installed and has its place among the sites.
pub struct RealSite {
    /// The site's name.
    pub host: &'static str,
    /// The package it comes from.
    pub package: String,
    /// The package's files.
    pub root: PathBuf,
    /// What is laid over them.
    pub overlay: PathBuf,
    /// Whether `/` is served from the overlay.
    pub has_home_overlay: bool,
    /// The address it is served on.
    pub address: Ipv4Addr,
    /// What its robots.txt forbids.
    pub forbidden: Option<&'static str>,
}

impl RealSite {
    /// The file that a path of this site is served from.
    pub fn file_of(&self, path: &str) -> PathBuf {
        if path == "/" && self.has_home_overlay {
            return self.overlay.join("index.html");
        }
        let relative = path.trim_start_matches('/');
        let file = self.root.join(relative);
        if relative.is_empty() || relative.ends_with('/') { file.join("index.html") } else { file }
    }

    /// How many pages the package has.
    pub fn num_pages(&self) -> usize {
        count_pages(&self.root)
    }
}

/// Installs the packages and lays the home pages out below `overlays`.
///
/// # Errors
/// A package cannot be installed, or its pages are not where they should be.
pub fn prepare(overlays: &Path) -> Result<Vec<RealSite>> {
    let mut names = Vec::new();
    for set in &DOC_SETS {
        names.push(match set.package {
            Package::Exact(name) => name.to_owned(),
            Package::Newest(family) => {
                packages::newest_of(family)?.with_context(|| format!("apt knows no package {family}NN"))?
            }
        });
    }
    packages::install_missing(&names)?;
    let numbered = (1_u8..).zip(DOC_SETS.iter().zip(names));
    numbered.map(|(number, (set, package))| place(set, package, number, &overlays.join(set.host))).collect()
}

fn place(set: &DocSet, package: String, number: u8, overlay: &Path) -> Result<RealSite> {
    let root = Path::new("/usr/share/doc").join(&package).join(set.folder);
    // Slim installations leave documentation out of packages (`path-exclude` in dpkg's configuration).
    if count_pages(&root) == 0 {
        bail!(
            "package {package} is installed, but {} has no page; does dpkg leave documentation out here?",
            root.display()
        );
    }
    fs::create_dir_all(overlay).with_context(|| format!("cannot create {}", overlay.display()))?;
    if let Home::LinksLanguages(title) = set.home {
        let languages = languages_of(&root)?;
        fs::write(overlay.join("index.html"), home_page(title, &languages))?;
    }
    if let Some(robots_txt) = set.robots_txt {
        fs::write(overlay.join("robots.txt"), robots_txt)?;
    }
    Ok(RealSite {
        host: set.host,
        package,
        root,
        overlay: overlay.to_owned(),
        has_home_overlay: matches!(set.home, Home::LinksLanguages(_)),
        address: Ipv4Addr::new(127, 77, 0, number),
        forbidden: set.forbidden,
    })
}

/// The folders that hold an index.html, those of [`FIRST_LANGUAGES`] first.
fn languages_of(root: &Path) -> Result<Vec<String>> {
    let mut languages = Vec::new();
    for entry in fs::read_dir(root).with_context(|| format!("cannot list {}", root.display()))? {
        let entry = entry?;
        if entry.path().join("index.html").is_file() {
            languages.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    let rank =
        |language: &String| FIRST_LANGUAGES.iter().position(|first| first == language).unwrap_or(FIRST_LANGUAGES.len());
    languages.sort_by_key(|language| (rank(language), language.clone()));
    Ok(languages)
}

/// A page that links the home page of each language.
fn home_page(title: &str, languages: &[String]) -> String {
    let items: String = languages
        .iter()
        .map(|language| {
            let tag = language.replace('_', "-");
            format!("<li><a href=\"{language}/index.html\" hreflang=\"{tag}\">{tag}</a></li>\n")
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n</head>\n\
         <body>\n<h1>{title}</h1>\n<ul>\n{items}</ul>\n</body>\n</html>\n"
    )
}

fn count_pages(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count_pages(&entry.path()),
        Ok(_) => usize::from(entry.path().extension().is_some_and(|ending| ending == "html")),
        Err(_) => 0,
    };
    entries.flatten().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_page_links_romanian_and_chinese_before_the_other_languages() {
        let folder = tempfile::tempdir().unwrap();
        for language in ["ar-MA", "zh-CN", "de-DE", "ro-RO"] {
            fs::create_dir(folder.path().join(language)).unwrap();
            fs::write(folder.path().join(language).join("index.html"), "").unwrap();
        }
        fs::create_dir(folder.path().join("images")).unwrap();
        let languages = languages_of(folder.path()).unwrap();
        assert_eq!(languages, ["ro-RO", "zh-CN", "ar-MA", "de-DE"]);
        let page = home_page("T", &languages);
        assert_eq!(page.matches("<a href=").count(), 4);
        assert!(page.contains("<a href=\"ro-RO/index.html\" hreflang=\"ro-RO\">"));
    }

    #[test]
    fn a_path_is_found_in_the_overlay_for_the_home_page_and_in_the_package_otherwise() {
        let site = RealSite {
            host: "a.test",
            package: "a".to_owned(),
            root: "/docs".into(),
            overlay: "/over".into(),
            has_home_overlay: true,
            address: Ipv4Addr::LOCALHOST,
            forbidden: None,
        };
        assert_eq!(site.file_of("/"), Path::new("/over/index.html"));
        assert_eq!(site.file_of("/ro/"), Path::new("/docs/ro/index.html"));
        assert_eq!(site.file_of("/ro/a.html"), Path::new("/docs/ro/a.html"));
        let plain = RealSite { has_home_overlay: false, ..site };
        assert_eq!(plain.file_of("/"), Path::new("/docs/index.html"));
    }
}
