//! Requests and pages a site may cost in one cycle.
