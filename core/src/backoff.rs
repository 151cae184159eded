//! How long a site is left alone after it said "too much" or did not answer.
