//! The fakes themselves: a fake that is wrong makes every test that stands on it wrong.

#[cfg(test)]
mod model;
#[cfg(test)]
mod program;
#[cfg(test)]
mod support;
#[cfg(test)]
mod terminal;
