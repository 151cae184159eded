//! Reads `config.toml` and the environment into a checked [`Config`].
//!
//! Each fault becomes one line that names the place, the key, what is wrong and what to write; all faults are named at
//! once. An unknown key is refused, because a setting that was misspelt would otherwise be a promise that is silently
//! not kept. The environment overrides the file: `LOHISOFTBOT_BUDGET__PAGE_REQUESTS=10` stands for `page_requests = 10`
//! in `[budget]`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use lohisoftbot_core::config::Config;
use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// What the name of an overriding variable begins with.
pub const ENVIRONMENT_PREFIX: &str = "LOHISOFTBOT_";

/// Longest configuration file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where the value of a key comes from; a key without one has its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// A line of the file, counted from 1.
    Line(usize),
    /// A variable of the environment.
    Environment(String),
}

/// A configuration as it was read.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// The settings, without a problem.
    pub config: Config,
    /// The file.
    pub path: PathBuf,
    /// Where each key that was set comes from, by `section.key`.
    pub sources: BTreeMap<String, ValueSource>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}: {source}; name another file with --config", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is longer than any configuration.
    #[error("{} is longer than {MAX_FILE_BYTES} bytes, so it is no configuration", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// Values or keys that cannot be used, one line each.
    #[error("{}", .0.join("\n"))]
    Faults(Vec<String>),
}

/// Reads `path`, then the variables of `environment` that name a key.
pub fn load(
    path: &Path,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<LoadedConfig, ConfigFileError> {
    let unreadable = |source| ConfigFileError::Unreadable { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Err(ConfigFileError::TooLong { path: path.to_owned() });
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(path, &text, environment)
}

/// The same for a text that was read already; `path` is only for messages.
pub fn parse(
    path: &Path,
    text: &str,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<LoadedConfig, ConfigFileError> {
    let mut reader = Reader { path, known: known_keys(), given: BTreeMap::new(), faults: Vec::new() };
    reader.take_file(text);
    reader.take_environment(environment);
    reader.finish()
}

/// Every key with its default, by section: the one list of what is known, made of the defaults themselves.
pub fn known_keys() -> BTreeMap<String, Table> {
    let defaults = Table::try_from(Config::default()).expect("the defaults are plain tables with text keys");
    let section = |(name, value)| match value {
        Value::Table(keys) => Some((name, keys)),
        _ => None,
    };
    defaults.into_iter().filter_map(section).collect()
}

struct Reader<'a> {
    path: &'a Path,
    known: BTreeMap<String, Table>,
    given: BTreeMap<String, (Value, ValueSource)>,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn take_file(&mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                self.fault_at(&ValueSource::Line(line), error.message());
                return;
            }
        };
        for (section, value) in document.get_ref().iter() {
            let source = ValueSource::Line(line_of(text, section.span().start));
            let name: &str = section.get_ref();
            if !self.known.contains_key(name) {
                let advice = self.advice_for_section(name);
                self.fault_at(&source, advice);
                continue;
            }
            let DeValue::Table(keys) = value.get_ref() else {
                self.fault_at(
                    &source,
                    format!("{name} is a section: write [{name}] on a line of its own, its keys below"),
                );
                continue;
            };
            for (key, value) in keys.iter() {
                let source = ValueSource::Line(line_of(text, key.span().start));
                match Value::deserialize(toml::de::ValueDeserializer::from(value.clone())) {
                    Ok(value) => self.take(name, key.get_ref(), value, source),
                    Err(error) => self.fault_at(&source, error.message()),
                }
            }
        }
    }

    fn take_environment(&mut self, environment: impl IntoIterator<Item = (OsString, OsString)>) {
        for (variable, value) in environment {
            let Some(variable) = variable.to_str() else { continue };
            let Some(rest) = variable.strip_prefix(ENVIRONMENT_PREFIX) else { continue };
            let rest = rest.to_ascii_lowercase();
            let source = ValueSource::Environment(variable.to_owned());
            let Some((section, key)) = rest.split_once("__") else {
                // Other variables may share the prefix; one that begins with a section was meant as an override.
                if self.known.keys().any(|section| rest.strip_prefix(section).is_some_and(|key| key.starts_with('_'))) {
                    self.fault_at(
                        &source,
                        "write two underscores between section and key, as in LOHISOFTBOT_BUDGET__PAGE_REQUESTS",
                    );
                }
                continue;
            };
            let Some(value) = value.to_str() else {
                self.fault_at(&source, "the value is not UTF-8: write plain text");
                continue;
            };
            if !self.known.contains_key(section) {
                let advice = self.advice_for_section(section);
                self.fault_at(&source, advice);
                continue;
            }
            // Where the default is text, so is the override, quotes or none: a version of 1.0 is no number.
            let is_text =
                matches!(self.known.get(section).and_then(|keys| keys.get(key)), None | Some(Value::String(_)));
            let parsed = if is_text { Ok(Value::String(value.to_owned())) } else { toml_value(value) };
            match parsed {
                Ok(value) => self.take(section, key, value, source),
                Err(message) => self.fault_at(&source, format!("{value:?} is no value: {message}")),
            }
        }
    }

    /// Takes one key, if it is known and its value is of its kind. Read alone, so that each fault is found, not only
    /// the first.
    fn take(&mut self, section: &str, key: &str, value: Value, source: ValueSource) {
        let path = format!("{section}.{key}");
        let Some(default) = self.known.get(section).and_then(|keys| keys.get(key)) else {
            let advice = self.advice_for_key(section, key);
            self.fault_at(&source, advice);
            return;
        };
        let alone =
            Table::from_iter([(section.to_owned(), Value::Table(Table::from_iter([(key.to_owned(), value.clone())])))]);
        match alone.try_into::<Config>() {
            Ok(_) => drop(self.given.insert(path, (value, source))),
            Err(error) => {
                let message = format!("{path}: {} (by default {key} = {default})", error.message());
                self.fault_at(&source, message);
            }
        }
    }

    fn finish(mut self) -> Result<LoadedConfig, ConfigFileError> {
        let mut merged = Table::new();
        let mut sources = BTreeMap::new();
        for (path, (value, source)) in std::mem::take(&mut self.given) {
            let (section, key) = path.split_once('.').expect("take joins section and key with a dot");
            let section = merged.entry(section).or_insert_with(|| Value::Table(Table::new()));
            section.as_table_mut().expect("sections are inserted as tables").insert(key.to_owned(), value);
            sources.insert(path, source);
        }
        let config = match merged.try_into::<Config>() {
            Ok(config) => config,
            Err(error) => {
                self.faults.push(format!("{}: {}", self.path.display(), error.message()));
                return Err(ConfigFileError::Faults(self.faults));
            }
        };
        for problem in config.problems() {
            match sources.get(problem.key) {
                Some(source) => self.fault_at(source, problem),
                None => self.faults.push(format!("{}: {problem}", self.path.display())),
            }
        }
        if self.faults.is_empty() {
            Ok(LoadedConfig { config, path: self.path.to_owned(), sources })
        } else {
            Err(ConfigFileError::Faults(self.faults))
        }
    }

    fn fault_at(&mut self, source: &ValueSource, message: impl fmt::Display) {
        self.faults.push(match source {
            ValueSource::Line(line) => format!("{} line {line}: {message}", self.path.display()),
            ValueSource::Environment(variable) => format!("environment variable {variable}: {message}"),
        });
    }

    fn advice_for_section(&self, name: &str) -> String {
        if let Some(section) = self.known.iter().find_map(|(section, keys)| keys.contains_key(name).then_some(section))
        {
            return format!("{name} stands outside its section: write it below a line [{section}]");
        }
        let nearest = nearest(name, self.known.keys().map(String::as_str)).unwrap_or_default();
        format!("unknown section [{name}]: did you mean [{nearest}]?")
    }

    fn advice_for_key(&self, section: &str, key: &str) -> String {
        let elsewhere = self.known.iter().find_map(|(other, keys)| keys.contains_key(key).then_some(other));
        let here = self.known.get(section).and_then(|keys| nearest(key, keys.keys().map(String::as_str)));
        match (elsewhere, here) {
            (Some(other), _) => format!("unknown key {section}.{key}: {key} belongs below [{other}]"),
            (None, Some(here)) => format!("unknown key {section}.{key}: did you mean {section}.{here}?"),
            (None, None) => format!("unknown key {section}.{key}: [{section}] has no keys in this version"),
        }
    }
}

fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A hostile or mistaken key may be huge; what is far longer than any key is near to none.
    let word: String = word.chars().take(64).collect();
    known.min_by_key(|candidate| strsim::damerau_levenshtein(&word, candidate))
}

fn toml_value(text: &str) -> Result<Value, String> {
    let parsed = toml::de::ValueDeserializer::parse(text).and_then(Value::deserialize);
    parsed.map_err(|error| error.message().to_owned())
}

fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use lohisoftbot_core::config::DiscoveryMode;

    use super::*;

    fn read(text: &str, environment: &[(&str, &str)]) -> Result<LoadedConfig, ConfigFileError> {
        let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        parse(Path::new("config.toml"), text, environment)
    }

    /// Wants exactly these faults, in this order, each with all its words.
    #[track_caller]
    fn check_faults(text: &str, environment: &[(&str, &str)], wanted: &[&[&str]]) {
        let Err(ConfigFileError::Faults(faults)) = read(text, environment) else { panic!("{text:?} was taken") };
        assert_eq!(faults.len(), wanted.len(), "{faults:#?}");
        for (fault, words) in faults.iter().zip(wanted) {
            assert!(!fault.contains('\n'), "{fault}");
            for word in *words {
                assert!(fault.contains(word), "{word:?} is missing in {fault:?}");
            }
        }
    }

    #[test]
    fn shipped_file_is_exactly_the_defaults_and_names_every_key() {
        let shipped = include_str!("../config.toml");
        let loaded = read(shipped, &[]).unwrap();
        assert_eq!(loaded.config, Config::default());
        for (section, keys) in known_keys() {
            for key in keys.keys() {
                let path = format!("{section}.{key}");
                let Some(ValueSource::Line(line)) = loaded.sources.get(&path) else {
                    panic!("{path} is not in config.toml")
                };
                let above = shipped.lines().nth(line - 2).unwrap_or_default();
                assert!(above.starts_with('#'), "{path} has no comment above it");
            }
        }
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = "[network]\nresolve = { \"*.test\" = \"127.0.0.1\" }\nallow_ranges = [\"127.0.0.0/8\"]\nconnect_timeout = \"250ms\"\n\
                    max_body_bytes = \"1MiB\"\n[identity.addresses]\n\"192.0.2.7\" = \"a.bot.lohisoft.com\"\n\
                    [discovery]\nmode = \"links\"\n[identity]\nenforce = false\n";
        let loaded =
            read(&text.replace("[identity.addresses]\n\"192.0.2.7\" = \"a.bot.lohisoft.com\"\n", ""), &[]).unwrap();
        let config = loaded.config;
        assert_eq!(config.network.resolve.iter().collect::<Vec<_>>(), [("*.test", Ipv4Addr::LOCALHOST)]);
        assert_eq!(config.network.connect_timeout, Duration::from_millis(250));
        assert_eq!(config.network.max_body_bytes, 1 << 20);
        assert_eq!(config.discovery.mode, DiscoveryMode::Links);
        assert!(!config.identity.enforce);
        assert_eq!(loaded.sources["network.connect_timeout"], ValueSource::Line(4));
        let own_table =
            read("[identity]\n[identity.addresses]\n\"192.0.2.7\" = \"a.bot.lohisoft.com\"\n", &[]).unwrap();
        assert_eq!(own_table.config.identity.addresses.len(), 1);
    }

    #[test]
    fn empty_file_is_the_defaults() {
        for text in ["", "\n# nothing\n", "\u{feff}[budget]\n", "[web]\n[search]\n"] {
            assert_eq!(read(text, &[]).unwrap().config, Config::default(), "{text:?}");
        }
    }

    #[test]
    fn unknown_key_is_refused_with_the_nearest_one() {
        check_faults(
            "\n[budget]\npage_request = 3\n",
            &[],
            &[&["line 3", "budget.page_request:", "budget.page_requests?"]],
        );
        check_faults("[politness]\n", &[], &[&["line 1", "[politness]", "[politeness]?"]]);
        check_faults("[budget]\nmin_delay = \"9s\"\n", &[], &[&["line 2", "belongs below [politeness]"]]);
        check_faults("page_requests = 3\n", &[], &[&["line 1", "outside its section", "[budget]"]]);
        check_faults("[robots]\nttl = \"x\"\n", &[], &[&["line 2", "robots.ttl", "no keys in this version"]]);
        check_faults("budget = 3\n", &[], &[&["line 1", "write [budget]"]]);
        check_faults("[[budget]]\npage_requests = 1\n", &[], &[&["write [budget]"]]);
        check_faults(&format!("[budget]\n{} = 1\n", "x".repeat(100_000)), &[], &[&["line 2", "did you mean"]]);
    }

    #[test]
    fn value_of_the_wrong_kind_is_refused_with_an_example() {
        check_faults(
            "[network]\nconnect_timeout = 5\n",
            &[],
            &[&["line 2", "network.connect_timeout", "with its unit", "by default connect_timeout = \"10s\""]],
        );
        check_faults("[network]\nconnect_timeout = \"5x\"\n", &[], &[&["\"5x\"", "\"250ms\""]]);
        check_faults("[network]\nmax_body_bytes = \"2MB\"\n", &[], &[&["\"2MB\"", "\"2MiB\""]]);
        check_faults("[budget]\npage_requests = -1\n", &[], &[&["line 2", "-1", "by default page_requests = 20"]]);
        check_faults("[network]\nallow_ranges = [\"127.0.0.1/8\"]\n", &[], &[&["write 127.0.0.0/8"]]);
        check_faults("[telemetry]\nlevel = \"loud\"\n", &[], &[&["loud", "`trace`"]]);
        check_faults("[discovery]\nmode = true\n", &[], &[&["line 2", "discovery.mode"]]);
    }

    #[test]
    fn value_out_of_bounds_is_refused_with_its_line() {
        check_faults(
            "[budget]\n\npage_requests = 21\n",
            &[],
            &[&["line 3", "budget.page_requests is 21", "from 1 to 20"]],
        );
    }

    #[test]
    fn all_faults_are_named_at_once() {
        check_faults(
            "[budget]\npage_requests = 0\nfoo = 1\n[network]\ndns_timeout = 1\n",
            &[("LOHISOFTBOT_NETWORK__FOO", "1")],
            &[
                &["budget.foo"],
                &["network.dns_timeout"],
                &["LOHISOFTBOT_NETWORK__FOO"],
                &["line 2", "budget.page_requests"],
            ],
        );
    }

    #[test]
    fn broken_toml_is_named_by_its_line() {
        check_faults("[budget]\npage_requests = = 3\n", &[], &[&["config.toml line 2:"]]);
        check_faults("[budget\n", &[], &[&["config.toml line 1:"]]);
        check_faults("[budget]\npage_requests = 1\npage_requests = 2\n", &[], &[&["line 3", "duplicate"]]);
        check_faults(&"[".repeat(5000), &[], &[&["config.toml line 1:"]]);
    }

    #[test]
    fn environment_overrides_the_file() {
        let loaded = read(
            "[budget]\npage_requests = 3\n",
            &[
                ("LOHISOFTBOT_BUDGET__PAGE_REQUESTS", "4"),
                ("LOHISOFTBOT_IDENTITY__VERSION", "2.0"),
                ("LOHISOFTBOT_POLITENESS__MIN_DELAY", "7s"),
                ("LOHISOFTBOT_NETWORK__ALLOW_RANGES", "[\"127.0.0.0/8\"]"),
                ("LOHISOFTBOT_OTHER", "ignored"),
                ("PATH", "/bin"),
            ],
        )
        .unwrap();
        assert_eq!(loaded.config.budget.page_requests, 4);
        assert_eq!(loaded.config.identity.version, "2.0");
        assert_eq!(loaded.config.politeness.min_delay, Duration::from_secs(7));
        assert_eq!(loaded.config.network.allow_ranges.len(), 1);
        assert!(matches!(&loaded.sources["budget.page_requests"], ValueSource::Environment(_)));
    }

    #[test]
    fn bad_override_is_named_by_its_variable() {
        check_faults(
            "",
            &[("LOHISOFTBOT_BUDGET__PAGE_REQUESTS", "40")],
            &[&["LOHISOFTBOT_BUDGET__PAGE_REQUESTS", "from 1 to 20"]],
        );
        check_faults("", &[("LOHISOFTBOT_BUDGET__PAGE_REQUESTS", "a b")], &[&["\"a b\" is no value"]]);
        check_faults("", &[("LOHISOFTBOT_BUDGT__PAGE_REQUESTS", "4")], &[&["[budgt]", "[budget]?"]]);
        check_faults("", &[("LOHISOFTBOT_BUDGET_PAGE_REQUESTS", "4")], &[&["two underscores"]]);
    }

    #[test]
    fn missing_file_is_one_clear_line() {
        let error = load(Path::new("/nonexistent/config.toml"), []).unwrap_err().to_string();
        assert!(
            error.contains("/nonexistent/config.toml") && error.contains("--config") && !error.contains('\n'),
            "{error}"
        );
    }
}
