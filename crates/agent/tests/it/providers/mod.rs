//! The providers: streams from files, whole and damaged; whole conversations against scripted
//! servers; what goes wrong on the way.

mod client;
mod conversations;
mod damage;
mod requests;
mod streams;
mod world;
