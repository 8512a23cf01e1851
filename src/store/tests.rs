//! What the store promises, with files and with memory.

mod archive;
mod documents;
mod race;
mod seals;
mod start;
