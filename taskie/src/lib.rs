//! Taskie, stateful: a plan is written, cut into tasks, and built task by task; each step is reviewed until two reviews in a row are
//! clean.
//!
//! | room     | subject                                                           |
//! |----------|-------------------------------------------------------------------|
//! | `files`  | what lies in a plan's directory, as types                         |
//! | `rules`  | the structure rules S1 to S10                                     |

pub mod files;
pub mod rules;
