//! Edits by hand and lack of resources: they are detected, nothing is lost, the loop continues.

mod attempts;
mod evidence;
mod helpers;
mod lock_and_disk;
