//! The promises of the store, with files and with memory.

mod archive;
mod behind;
mod documents;
mod fields;
mod power;
mod race;
mod removed;
mod seals;
mod start;
