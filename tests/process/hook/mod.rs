//! The Stop hook, phase by phase, as a client sees it: its answers and its effect on the loop.

mod drafting;
mod evidence;
mod failed_and_running_reviews;
mod other_hooks;
mod permission;
mod rounds;
