//! Numeric: a number of PostgreSQL with any count of digits, from its binary form to its digits: groups of four, a
//! weight, a sign and how many digits stand behind the point (`src/backend/utils/adt/numeric.c`, `numeric_send`).

use crate::json;

const NEGATIVE: u16 = 0x4000;
const POSITIVE: u16 = 0;

/// Writes its digits, as many behind the point as the server says; `null` for what is no number (`NaN`, infinities).
/// `None` if these bytes are no numeric.
pub(super) fn write(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (head, groups) = bytes.split_first_chunk::<8>()?;
    let [count, weight, sign, scale] = [0, 2, 4, 6].map(|at| u16::from_be_bytes([head[at], head[at + 1]]));
    if sign != NEGATIVE && sign != POSITIVE {
        json::null(out);
        return Some(());
    }
    if groups.len() != usize::from(count) * 2 {
        return None;
    }
    let weight = i32::from(weight.cast_signed());
    // The group that stands for 10000^power; those that are not sent are zero.
    let group = |power: i32| {
        let index = usize::try_from(weight - power).ok()?;
        let group = groups.get(index * 2..index * 2 + 2)?;
        Some(u16::from_be_bytes([group[0], group[1]]))
    };
    if sign == NEGATIVE {
        out.push(b'-');
    }
    json::integer(group(weight.max(0)).unwrap_or(0), out);
    for power in (0..weight.max(0)).rev() {
        four(group(power).unwrap_or(0), 4, out);
    }
    if scale > 0 {
        out.push(b'.');
        let mut left = usize::from(scale);
        let mut power = -1;
        while left > 0 {
            four(group(power).unwrap_or(0), left.min(4), out);
            left = left.saturating_sub(4);
            power -= 1;
        }
    }
    Some(())
}

/// The first of four digits.
fn four(group: u16, digits: usize, out: &mut Vec<u8>) {
    let all =
        [group / 1000 % 10, group / 100 % 10, group / 10 % 10, group % 10].map(|digit| b'0' + digit as u8);
    out.extend_from_slice(&all[..digits]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(head: [u16; 4], groups: &[u16]) -> Option<String> {
        let bytes: Vec<u8> = head.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect();
        let mut out = Vec::new();
        write(&bytes, &mut out)?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn digits_are_written_as_the_server_has_them() {
        for (head, groups, digits) in [
            ([0, 0, POSITIVE, 0], &[][..], "0"),
            ([0, 0, POSITIVE, 2], &[], "0.00"),
            ([2, 0, POSITIVE, 2], &[9, 9000], "9.90"),
            ([1, 1, POSITIVE, 0], &[1], "10000"),
            ([3, 1, NEGATIVE, 4], &[12, 3456, 700], "-123456.0700"),
            ([1, 0xffff, POSITIVE, 3], &[500], "0.050"),
            ([1, 0xfffe, POSITIVE, 8], &[12], "0.00000012"),
            ([0, 0, 0xc000, 0], &[], "null"),
        ] {
            assert_eq!(written(head, groups).as_deref(), Some(digits));
        }
        assert_eq!(written([2, 0, POSITIVE, 0], &[1]), None);
    }
}
