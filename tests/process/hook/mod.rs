//! The Stop hook, phase by phase, as a client sees it: its answers and its effect on the loop.

mod beside;
mod drafting;
mod evidence;
mod failing;
mod permission;
mod rounds;
