//! Stage pipelines: seven stages whose coordinators report by a summary file, and the program that reads them.
//!
//! [`contract`] is the Summary Contract: what a summary file is, each rule with its code, and what is read where one is broken. It
//! uses nothing of the pipeline. [`gates`] look at what stages 3 and 5 wrote.
//! [`digest`] and [`reflection`] are made from the summaries that were [`kept`], so one that is lost is written again.

pub mod contract;
pub mod digest;
pub mod gates;
pub mod kept;
pub mod reflection;
