//! robots.txt as in RFC 9309: reading a file, and answering for a URL with the line that decided.
