//! The headers that every answer carries, whatever it is.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

/// How the visitor's connection is kept from being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// Plain HTTP, as on the loopback or behind a proxy.
    Plain,
    /// TLS, by our own certificate.
    Tls,
}

/// Nothing but our own style sheet, picture and form: no script, whoever wrote it, and no frame around us.
pub(super) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'";

/// A browser that was here by TLS comes back by TLS for a year (RFC 6797).
const STRICT_TRANSPORT_SECURITY: &str = "max-age=31536000";

const ALWAYS: &[(&str, &str)] = &[
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    // The query stands in the address: no site that a result leads to is told it.
    ("referrer-policy", "no-referrer"),
    // For browsers that do not know `frame-ancestors`.
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Adds them.
pub(super) fn add_safety(headers: &mut HeaderMap, transport: Transport) {
    for (name, value) in ALWAYS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    match transport {
        Transport::Plain => {}
        Transport::Tls => headers
            .insert(
                HeaderName::from_static("strict-transport-security"),
                HeaderValue::from_static(STRICT_TRANSPORT_SECURITY),
            )
            .for_each(drop),
    }
}
