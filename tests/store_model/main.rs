//! The store's protocol: a model that is walked through whole, and the implementation held to the same reference.
//!
//! | file             | subject                                                                        |
//! |------------------|--------------------------------------------------------------------------------|
//! | `reference`      | what a loop is, which changes are legal: the judge of all the others           |
//! | `protocol`       | the model: disk, processes, what may happen                                    |
//! | `promises`       | what must hold in every state of the model, and what must happen in some       |
//! | `steps`          | the store's steps in the model                                                 |
//! | `proved`         | the model, walked through; and broken models, which must break a promise       |
//! | `counter`        | the implementation's machine                                                   |
//! | `folder`         | the implementation's folder, read as the reference's values                    |
//! | `random`         | random calls, crashes and damage, and what the reference says to them          |
//! | `implementation` | the implementation beside the reference                                        |
//! | `programs`       | programs that are killed, and programs at once                                 |

#[path = "../support/counter.rs"]
mod counter;
mod folder;
mod implementation;
mod programs;
mod promises;
mod protocol;
mod proved;
mod random;
mod reference;
mod steps;
