//! Who listens on a port of this machine: a port is open to all users, and does not say whose browser is behind it.
//!
//! Linux tells in `/proc/net/tcp`. Elsewhere nobody does, and a port counts as one's own.

use std::fs;

use rustix::process::getuid;

/// The states of a socket that listens.
const LISTENS: &str = "0A";
/// Where a listener is reached at 127.0.0.1, as the tables write it; the closest one first.
const HERE: [&str; 4] =
    ["0100007F", "0000000000000000FFFF00000100007F", "00000000", "00000000000000000000000000000000"];

/// Returns the user who listens on a port, if that is another person. Root is none: it runs what forwards a port, such as
/// that of a container; and what root asks for it may have.
pub(super) fn stranger(port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let ours = getuid().as_raw();
    owner(&tables.concat(), port).filter(|user| ours != 0 && ![0, ours].contains(user))
}

/// Returns the user whose socket takes what is sent to a port at 127.0.0.1.
fn owner(tables: &str, port: u16) -> Option<u32> {
    let listeners = tables.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (address, hex) = fields.nth(1)?.split_once(':')?;
        let state = fields.nth(1)?;
        let user = fields.nth(3)?.parse().ok()?;
        let closeness = HERE.iter().position(|here| *here == address)?;
        (state == LISTENS && u16::from_str_radix(hex, 16) == Ok(port)).then_some((closeness, user))
    });
    listeners.min_by_key(|(closeness, _)| *closeness).map(|(_, user)| user)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:2406 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1002        0 11 1 0 100 0 0 10 0
   1: 0100007F:2406 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 12 1 0 100 0 0 10 0
   2: 0100007F:2407 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1003        0 13 1 0 100 0 0 10 0
   3: 0101A8C0:2407 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1004        0 14 1 0 100 0 0 10 0
   4: 00000000000000000000000000000000:2408 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1005        0 15
";

    #[test]
    fn the_closest_listener_is_the_one_that_is_reached() {
        assert_eq!(owner(TABLE, 9222), Some(1001));
        assert_eq!(owner(TABLE, 9223), None, "a connection, and a listener elsewhere, are none here");
        assert_eq!(owner(TABLE, 9224), Some(1005));
    }

    #[test]
    fn what_listens_for_this_user_is_no_strangers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
        assert!(table.is_empty() || owner(&table, port) == Some(getuid().as_raw()), "{table}");
        assert_eq!(stranger(port), None);
    }
}
