//! The node's choice on the practice web: counts, so that no machine is too slow for them.

use super::*;
