//! Random bytes that nobody can guess, for whatever is secret because of them alone.

use std::fs::File;
use std::io::{self, Read as _};

/// Returns so many of them, from the system.
pub(crate) fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns so many numbers made of them.
pub(crate) fn numbers<const COUNT: usize>() -> io::Result<[u64; COUNT]> {
    let mut numbers = [0; COUNT];
    for number in &mut numbers {
        *number = u64::from_ne_bytes(bytes()?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_are_the_same() {
        let [first, second, third] = super::numbers().expect("the system has some");
        assert!(first != second && second != third && third != first);
    }
}
