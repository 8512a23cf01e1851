//! One JSON object off a stream that may never end: read up to its last brace, within a deadline and a size.
//!
//! What the object means is not known here.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use derive_more::{Display, Error};
use miette::Diagnostic;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

/// How long to wait for a value, and how large it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// From the call to the last byte of the value.
    pub deadline: Duration,
    /// Of everything that is read.
    pub max_bytes: usize,
}

impl Default for ReadLimits {
    /// Two seconds and 8 MiB: a client writes at once, and whoever does not must not hold the turn. Its largest value is a tool's response.
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(2),
            max_bytes: 8 * 1024 * 1024,
        }
    }
}

/// Why there is no input.
#[derive(Debug, Display, Error, Diagnostic)]
#[diagnostic(help("a hook's input is one JSON object on stdin, written by the client"))]
pub enum InputError {
    /// Nothing but white space.
    #[display("the hook's input is empty")]
    #[diagnostic(code(claudex::hook::input::empty))]
    Empty,
    /// A string, an array, or no JSON at all.
    #[display("the hook's input is not a JSON object")]
    #[diagnostic(code(claudex::hook::input::not_an_object))]
    NotAnObject,
    /// It begins as an object but is none.
    #[display("the hook's input is not valid JSON: {source}")]
    #[diagnostic(code(claudex::hook::input::invalid))]
    Invalid {
        /// Where and why.
        source: serde_json::Error,
    },
    /// It ends before the object does.
    #[display("the hook's input ends in the middle, after {bytes} bytes")]
    #[diagnostic(code(claudex::hook::input::cut))]
    Cut {
        /// How much came.
        bytes: usize,
    },
    /// The object was not complete in time.
    #[display("the hook's input was not complete after {} ms ({bytes} bytes had come)", after.as_millis())]
    #[diagnostic(code(claudex::hook::input::late))]
    Late {
        /// The limit.
        after: Duration,
        /// How much came.
        bytes: usize,
    },
    /// The object is too large.
    #[display("the hook's input is larger than {max_bytes} bytes")]
    #[diagnostic(code(claudex::hook::input::large))]
    Large {
        /// The limit.
        max_bytes: usize,
    },
    /// The stream itself failed.
    #[display("cannot read the hook's input: {source}")]
    #[diagnostic(code(claudex::hook::input::io))]
    Io {
        /// What the system said.
        source: io::Error,
    },
}

/// Reads one JSON object and stops there: what follows is neither waited for nor looked at. `is_ready` waits for the stream's next bytes, or
/// its end, for as long as it is told, and says whether they have come.
///
/// Bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD instead of losing the whole: a client may cut a
/// message in the middle of a character.
///
/// # Errors
/// Nothing there, no object, too late, too large, cut off, or not JSON.
pub fn read_object<R: Read>(
    mut reader: R,
    limits: ReadLimits,
    is_ready: impl Fn(&R, Duration) -> io::Result<bool>,
) -> Result<BTreeMap<String, Value>, InputError> {
    let begun = Instant::now();
    let mut buffer = [0; 4096];
    let mut bytes = Vec::new();
    let mut scan = Scan::default();
    loop {
        let left = limits.deadline.saturating_sub(begun.elapsed());
        let count = match is_ready(&reader, left) {
            Ok(true) => reader.read(&mut buffer),
            Ok(false) => {
                return Err(InputError::Late {
                    after: limits.deadline,
                    bytes: bytes.len(),
                });
            }
            Err(error) => Err(error),
        };
        let chunk = match count {
            Ok(0) if scan.depth == 0 => return Err(InputError::Empty),
            Ok(0) => return Err(InputError::Cut { bytes: bytes.len() }),
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(InputError::Io { source }),
        };
        let end = scan.feed(chunk)?;
        bytes.extend_from_slice(&chunk[..end.unwrap_or(chunk.len())]);
        if bytes.len() > limits.max_bytes {
            return Err(InputError::Large {
                max_bytes: limits.max_bytes,
            });
        }
        if end.is_some() {
            return parse(&bytes);
        }
    }
}

/// A stream of which nothing is kept back: what std buffers of stdin a poll would not see.
#[derive(Debug)]
pub(super) struct Unbuffered<S>(pub(super) S);

impl<S: AsFd> Read for Unbuffered<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, buffer)?)
    }
}

/// Waits until a stream can be read without waiting, and returns whether it can be within that time.
pub(super) fn is_ready<S: AsFd>(stream: &Unbuffered<S>, within: Duration) -> io::Result<bool> {
    let mut polled = [PollFd::new(&stream.0, PollFlags::IN)];
    let within = Timespec::try_from(within).map_err(io::Error::other)?;
    Ok(poll(&mut polled, Some(&within))? > 0)
}

// Sorted, not in the order in which it stands: nobody asks for that, and at each stop the code of a map that keeps it is read, too.
fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Value>, InputError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text)
        // Mending costs a copy of the whole, and hardly any input needs it.
        .or_else(|error| serde_json::from_str(&mend_surrogates(text)).map_err(|_| error))
        .map_err(|source| InputError::Invalid { source })
}

/// Where the first object of a stream ends, found without parsing it.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Returns how many of these bytes belong to the object, once it is complete.
    fn feed(&mut self, bytes: &[u8]) -> Result<Option<usize>, InputError> {
        for (index, byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'{' => self.depth += 1,
                // White space, and the bytes of a byte order mark.
                b' ' | b'\t' | b'\r' | b'\n' | 0xEF | 0xBB | 0xBF if self.depth == 0 => {}
                _ if self.depth == 0 => return Err(InputError::NotAnObject),
                b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Ok(Some(index + 1));
                    }
                }
                b'"' => self.in_string = true,
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Returns the text with each `\uD8xx` escape that has no partner replaced by `\uFFFD`, which has the same length.
fn mend_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let unit = |text: &str| {
            let digits = text.strip_prefix("\\u")?.get(..4)?;
            u16::from_str_radix(digits, 16).ok()
        };
        let taken = match unit(rest) {
            Some(0xD800..=0xDBFF)
                if matches!(rest.get(6..).and_then(unit), Some(0xDC00..=0xDFFF)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            // Any other escape: the backslash and the character after it, so that `\\u` is not taken for an escape.
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};
    use std::thread;

    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<BTreeMap<String, Value>, InputError> {
        read_object(bytes, ReadLimits::default(), |_, _| Ok(true))
    }

    /// Returns what was written, then a stream that stays open without a word; the writer keeps it open.
    fn endless(bytes: &[u8]) -> (io::PipeReader, io::PipeWriter) {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(bytes).unwrap();
        (reader, writer)
    }

    #[test]
    fn a_complete_object_does_not_wait_for_the_end() {
        let (reader, _open) = endless(br#" {"a": "}\"{", "b": [{}, []]} "#);
        let object = read_object(
            Unbuffered(reader),
            ReadLimits {
                deadline: Duration::from_secs(60),
                max_bytes: 100,
            },
            is_ready,
        )
        .unwrap();
        assert_eq!(object["a"], "}\"{");
    }

    #[test]
    fn an_open_stream_runs_into_the_deadline() {
        let limits = ReadLimits {
            deadline: Duration::from_millis(200),
            max_bytes: 100,
        };
        for (written, expected) in [(&b""[..], 0), (br#"{"a": ""#, 7)] {
            let (reader, _open) = endless(written);
            let begun = Instant::now();
            match read_object(Unbuffered(reader), limits, is_ready) {
                Err(InputError::Late { bytes, .. }) => assert_eq!(bytes, expected),
                other => panic!("{other:?}"),
            }
            assert!(
                begun.elapsed() >= limits.deadline && begun.elapsed() < Duration::from_secs(30)
            );
        }
    }

    #[test]
    fn what_comes_slowly_is_put_together() {
        let (reader, mut writer) = endless(br#"{"a": "#);
        let late = thread::spawn(move || writer.write_all(b"1}").map(|()| writer));
        let object = read_object(Unbuffered(reader), ReadLimits::default(), is_ready).unwrap();
        assert_eq!(object["a"], 1);
        late.join().unwrap().unwrap();
    }

    #[test]
    fn an_endless_flood_runs_into_the_size() {
        let limits = ReadLimits {
            deadline: Duration::from_secs(60),
            max_bytes: 1024 * 1024,
        };
        let flood = Cursor::new(br#"{"a": ""#).chain(io::repeat(b'x'));
        assert!(matches!(
            read_object(flood, limits, |_, _| Ok(true)),
            Err(InputError::Large {
                max_bytes: 1_048_576
            })
        ));
        let blanks = io::repeat(b' ');
        assert!(matches!(
            read_object(blanks, limits, |_, _| Ok(true)),
            Err(InputError::Large { .. })
        ));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(matches!(read(b""), Err(InputError::Empty)));
        assert!(matches!(read(b" \r\n\t"), Err(InputError::Empty)));
        for text in ["not json at all", "[]", "\"{}\"", "null", "7", "}", "\0{}"] {
            assert!(
                matches!(read(text.as_bytes()), Err(InputError::NotAnObject)),
                "{text:?}"
            );
        }
        assert!(matches!(
            read(b"{\"a\": 1"),
            Err(InputError::Cut { bytes: 7 })
        ));
        for text in ["{]", "{a: 1}", "{\"a\" 1}", "{\"a\": \"line\nbreak\"}"] {
            assert!(
                matches!(read(text.as_bytes()), Err(InputError::Invalid { .. })),
                "{text:?}"
            );
        }
        let deep = format!("{}1{}", "{\"a\":".repeat(5000), "}".repeat(5000));
        assert!(matches!(
            read(deep.as_bytes()),
            Err(InputError::Invalid { .. })
        ));
    }

    #[test]
    fn a_second_value_is_not_looked_at() {
        assert!(read(b"\xef\xbb\xbf{}{\"a\":1} garbage").unwrap().is_empty());
    }

    #[test]
    fn broken_characters_do_not_lose_the_rest() {
        let object = read(
            b"{\"a\": \"x\xff\", \"b\": \"\\ud83d\", \"c\": \"\\udc00\\ud83d\\ude00\", \"d\": \"\\\\ud83d\"}",
        );
        let object = object.unwrap();
        assert_eq!(object["a"], "x\u{fffd}");
        assert_eq!(object["b"], "\u{fffd}");
        assert_eq!(object["c"], "\u{fffd}😀");
        assert_eq!(object["d"], "\\ud83d");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let _ = read(&[b"{\"a\": \"\\u", &bytes[..], b"\"}"].concat());
        }

        #[test]
        fn any_object_is_read_whatever_follows(text in any::<String>(), junk in any::<String>()) {
            let mut object = BTreeMap::new();
            object.insert(text.clone(), Value::from(vec![text]));
            let written = serde_json::to_string(&object).unwrap() + &junk;
            prop_assert_eq!(read(written.as_bytes()).unwrap(), object);
        }
    }
}
