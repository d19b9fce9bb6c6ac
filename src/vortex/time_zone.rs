//! Names of time zones. A reader that finds none of them refuses the whole file.

use crate::error::{Error, Kind, Result, What};

/// Checks the time zone of a timestamp whose type is at `at`.
///
/// # Errors
/// [`Kind::Invalid`] in `What::VORTEX_TIME_ZONE` if no reader knows it; `need` is the number of its bytes.
pub(super) fn check(name: &[u8], at: u64) -> Result<()> {
    if is_zone(name) {
        Ok(())
    } else {
        Err(Error::needing(Kind::Invalid, What::VORTEX_TIME_ZONE, at, name.len() as u64))
    }
}

/// Returns whether a time zone may be known to readers: it is empty, an offset such as `+01:00`, or has the form of a name of the
/// IANA time zone database.
pub(super) const fn is_zone(name: &[u8]) -> bool {
    match name {
        [] => true,
        [b'+' | b'-', offset @ ..] => is_offset(offset),
        [b'l' | b'L', b'o' | b'O', b'c' | b'C', b'a' | b'A', b'l' | b'L'] => false,
        [b'G' | b'g', b'M' | b'm', b'T' | b't', b'+' | b'-', b'0'] => true,
        bytes => bytes.len() <= u16::MAX as usize && is_name(bytes),
    }
}

/// Returns whether an offset without its sign has hours up to 25, and perhaps minutes and seconds, with or without colons.
const fn is_offset(offset: &[u8]) -> bool {
    let has_colons = matches!(offset, [_, _, b':', ..]);
    let (mut rest, mut most, mut left) = (offset, 25, 3u8);
    while let [ten @ b'0'..=b'9', one @ b'0'..=b'9', others @ ..] = rest {
        left = left.saturating_sub(1);
        rest = match others {
            _ if (*ten & 15).saturating_mul(10).saturating_add(*one & 15) > most => return false,
            [] => return true,
            _ if left == 0 => return false,
            [b':', others @ ..] if has_colons => others,
            _ if has_colons => return false,
            others => others,
        };
        most = 59;
    }
    false
}

/// Returns whether a name has at least two characters, and parts of letters, digits, `_`, `+` and `-` that begin with a letter.
/// A digit after a sign is an offset, which only names with several parts have, such as `Etc/GMT+5`.
const fn is_name(name: &[u8]) -> bool {
    let (mut rest, mut before, mut parts, mut has_offset) = (name, b'/', 1u32, false);
    while let [byte, others @ ..] = rest {
        let fits = match *byte {
            b'/' => {
                parts = parts.saturating_add(1);
                before != b'/'
            }
            b'0'..=b'9' => {
                has_offset |= matches!(before, b'+' | b'-');
                before != b'/'
            }
            b'_' | b'+' | b'-' => before != b'/',
            byte => byte.is_ascii_alphabetic(),
        };
        if !fits {
            return false;
        }
        (before, rest) = (*byte, others);
    }
    before != b'/' && name.len() > 1 && (parts > 1 || !has_offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What release 0.93 of the original finds in its database, and what it does not, with which it refuses the whole file.
    #[test]
    fn names_of_zones() {
        let known = [
            "",
            "UTC",
            "utc",
            "GMT",
            "GMT0",
            "CET",
            "EST5EDT",
            "GB",
            "W-SU",
            "NZ-CHAT",
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "America/Port-au-Prince",
            "Etc/GMT+5",
            "Etc/GMT-14",
            "Zulu",
            "+01:00",
            "-05:30",
            "+23:59",
            "+01",
            "-0530",
            "+01:00:00",
            "+010000",
            "+25:59",
            "GMT+0",
            "gmt-0",
        ];
        for name in known {
            assert!(is_zone(name.as_bytes()), "{name}");
        }
        let unknown = [
            "Z",
            "A",
            "local",
            "Local",
            "UTC+1",
            " UTC",
            "UTC ",
            "Europe Berlin",
            "/Berlin",
            "Europe/",
            "Europe//Berlin",
            "/",
            "+1:00",
            "+26:00",
            "+01:60",
            "+1",
            "+",
            "+010",
            "+01:0000",
            "+0100:00",
            "+01:00:",
            "GMT+1",
            "5",
            "\u{3b1}/\u{3b2}",
            "UTC\0",
            "EST5EDT,M3.2.0,M11.1.0",
        ];
        for name in unknown {
            assert!(!is_zone(name.as_bytes()), "{name}");
        }
        let long = ["a"; 1 << 16].concat();
        assert!(!is_zone(long.as_bytes()) && is_zone(&long.as_bytes()[1..]));
    }
}
