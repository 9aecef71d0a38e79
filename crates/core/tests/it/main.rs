//! Core, tested from outside: everything here enters through the registry or the engine.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod search;
#[cfg(test)]
mod skills;
#[cfg(test)]
mod support;
