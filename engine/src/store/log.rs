//! The log of a state folder: one line for each event.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use jiff::Timestamp;

use super::id::iso;
use super::loop_folder::LoopFolder;
use crate::text::one_line;

/// The name of the log in the state folder.
const LOG: &str = "log";
/// The most bytes of the log. A longer one is cut to the end that is read of it.
const MAX_LOG_BYTES: u64 = 4 * READ_LOG_BYTES;
/// The bytes that are read of the log's end.
const READ_LOG_BYTES: u64 = 256 * 1024;
/// The most characters of a line of the log.
const MAX_LOG_LINE_CHARS: usize = 4000;

impl LoopFolder {
    /// Appends a line to the folder's `log`, with the time before it, if the folder exists. Failing to fails nothing: a log
    /// must not stop a loop.
    pub fn log(&self, line: &str) {
        let text = one_line(line, MAX_LOG_LINE_CHARS);
        let line = format!("{} {text}\n", iso(Timestamp::now()));
        let _ = self.open_folder().and_then(|here| {
            let mut file = here.file_to_append(LOG)?;
            if file.metadata()?.len() < MAX_LOG_BYTES {
                return file.write_all(line.as_bytes());
            }
            // Nothing is lost that a loop needs, should another process write a line meanwhile.
            let kept = self.last_logged();
            let whole = kept.split_once('\n').map_or("", |(_, whole)| whole);
            here.prepare([whole, &line].concat().as_bytes())?
                .rename(LOG)
        });
    }

    /// Returns the end of the folder's log, which is empty if it cannot be read.
    pub fn last_logged(&self) -> String {
        let end = || -> io::Result<Vec<u8>> {
            let mut file = self.open_folder()?.file(LOG)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ_LOG_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(READ_LOG_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&end().unwrap_or_default()).into_owned()
    }
}
