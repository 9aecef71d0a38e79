//! State, tested from outside: what was acknowledged is there, whoever comes to look.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod search;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod versions;

#[cfg(test)]
fn store(directory: &tempfile::TempDir) -> pinza_state::Store {
    pinza_state::Store::open(&directory.path().join("state.db")).unwrap()
}
