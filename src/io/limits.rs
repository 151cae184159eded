//! The limits of one fetch, each named after its key in `[network]`.

use std::time::Duration;

use lohisoftbot_core::sitemap::MAX_SITEMAP_BYTES;

/// What one fetch may cost. Every field has a key of the same name in `config.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// From the first packet to an open connection.
    pub connect_timeout: Duration,
    /// The TLS handshake.
    pub tls_timeout: Duration,
    /// From the request to the end of the response head, 1xx answers included.
    pub first_byte_timeout: Duration,
    /// Longest silence inside a body.
    pub idle_timeout: Duration,
    /// The whole request, from the first packet to the last byte, without its wait for leave.
    pub total_timeout: Duration,
    /// All head bytes of an answer, 1xx answers included.
    pub max_head_bytes: usize,
    /// All head lines of an answer, 1xx answers included.
    pub max_head_lines: usize,
    /// A page's body after decoding, in bytes.
    pub max_body_bytes: usize,
    /// A robots.txt body after decoding, in bytes (RFC 9309 §2.5 asks for at least 500 KiB).
    pub max_robots_bytes: usize,
    /// A sitemap after decoding, and after gzip where it is a gzip file, in bytes. No key: it is a limit of the reader's.
    pub max_sitemap_bytes: usize,
    /// How many bytes one received body byte may decode to.
    pub max_ratio: u32,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            tls_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(20),
            idle_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(60),
            max_head_bytes: 64 * 1024,
            max_head_lines: 256,
            max_body_bytes: 2 * 1024 * 1024,
            max_robots_bytes: 500 * 1024,
            max_sitemap_bytes: MAX_SITEMAP_BYTES,
            max_ratio: 1000,
        }
    }
}
