//! SHA-256 digests and random bytes as lower-case hexadecimal text.

use std::fmt::Write as _;
use std::io;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of some bytes, as 64 lower-case hex digits.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns `N` random bytes of the system as lower-case hex digits.
pub fn random_hex<const N: usize>() -> io::Result<String> {
    let mut random = [0; N];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(hex(&random))
}
