//! The log of a state folder: one line for each event, which nothing relies on.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use jiff::Timestamp;

use super::id::to_seconds;
use super::state_folder::Store;
use crate::text::one_line;

const LOG: &str = "log";
/// The bytes that are read of the log's end. A log of four times as many is cut to them.
const READ_LOG_BYTES: u64 = 256 * 1024;
const MAX_LOG_LINE_CHARS: usize = 4000;

impl Store {
    /// Appends a line with the time to the folder's log, if the folder exists. Ignores failures.
    pub fn log(&self, line: &str) {
        let text = one_line(line, MAX_LOG_LINE_CHARS);
        let line = format!("{} {text}\n", to_seconds(Timestamp::now()));
        let _ = self.open_folder().and_then(|here| {
            let mut file = here.file_to_append(LOG)?;
            if file.metadata()?.len() < 4 * READ_LOG_BYTES {
                return file.write_all(line.as_bytes());
            }
            // Nothing is lost that a loop needs, should another process write a line meanwhile.
            let bytes = (self.last_logged() + &line).into_bytes();
            here.prepare(&bytes)?.rename(LOG)
        });
    }

    /// Returns the end of the folder's log, which is empty if it cannot be read.
    pub fn last_logged(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = self.open_folder()?.file(LOG)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ_LOG_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(READ_LOG_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }
}
