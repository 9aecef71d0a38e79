//! What happens at run time, kept in SQLite.
