//! Logins, paywalls and bot protection: how they are recognised.
