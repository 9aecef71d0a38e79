//! JavaScript tools through real workers.

#[cfg(test)]
mod cache;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod prelude;
#[cfg(test)]
mod reloading;
#[cfg(test)]
mod state;
#[cfg(test)]
mod support;
