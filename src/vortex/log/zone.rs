//! Names of time zones.

/// Returns whether a time zone may be known to readers: it is empty, an offset such as `+01:00`, or has the form of a name of the
/// IANA time zone database.
pub(super) const fn is_zone(name: &str) -> bool {
    match name.as_bytes() {
        [] => true,
        [b'+' | b'-', h @ b'0'..=b'2', hh, b':', b'0'..=b'5', b'0'..=b'9'] => {
            hh.is_ascii_digit() && (*h < b'2' || *hh < b'4')
        }
        [b'l' | b'L', b'o' | b'O', b'c' | b'C', b'a' | b'A', b'l' | b'L'] => false,
        bytes => bytes.len() <= u16::MAX as usize && is_name(bytes),
    }
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
        ];
        for name in known {
            assert!(is_zone(name), "{name}");
        }
        let unknown = [
            "Z",
            "A",
            "local",
            "Local",
            "UTC+1",
            "GMT-1",
            " UTC",
            "UTC ",
            "Europe Berlin",
            "/Berlin",
            "Europe/",
            "Europe//Berlin",
            "/",
            "+1:00",
            "+24:00",
            "+01:60",
            "+01:00:00",
            "5",
            "\u{3b1}/\u{3b2}",
            "UTC\0",
            "EST5EDT,M3.2.0,M11.1.0",
        ];
        for name in unknown {
            assert!(!is_zone(name), "{name}");
        }
        let long = ["a"; 1 << 16].concat();
        assert!(!is_zone(&long) && is_zone(&long[1..]));
    }
}
