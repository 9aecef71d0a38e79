//! The HTTP listener, its guards, and what it serves.
