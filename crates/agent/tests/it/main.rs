//! The dialects from outside: cases from files, schemas made to hurt, and laws over random ones. And
//! the providers: streams, conversations, failures.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod providers;
#[cfg(test)]
mod support;
#[cfg(test)]
mod talk;
