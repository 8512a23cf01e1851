//! What is edited by hand, broken or starved: it is found out, nothing is lost, and the loop goes on.

mod attempts;
mod evidence;
mod helpers;
mod killed;
mod state;
