//! The Stop hook, phase by phase, as a client sees it: what it answers, and what it does to the loop.

mod beside;
mod drafting;
mod evidence;
mod failing;
mod permission;
mod rounds;
