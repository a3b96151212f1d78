//! The order of the rows of a case: numbers, or dates and times.
//!
//! Dates are read here and not by a library, because an order must be exact. jiff 0.2 reads `2024-05-01 13:45:10` in 340
//! instructions, this file in 570, which is 5 % of counting such a row; but jiff refuses a second with more than nine decimals
//! (here 18), reads a leap second as the second before it, so that two orders become one, takes `20240501`, here a number, for
//! a date, and has one parser for times with a zone and another for those without, which drops a zone.

use crate::decimal::{Decimal, NotDecimal, power};
use std::time::{SystemTime, UNIX_EPOCH};

/// A place in the order of a case, in units of 10⁻¹⁸: of the number itself, or of a second since 1970.
pub type Moment = i128;

/// The kind of text that an order was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// A number.
    Number,
    /// A date, perhaps with a time, without a zone: taken as UTC.
    Date,
    /// A time with its zone.
    Zoned,
}

/// The moment of a number.
#[inline]
pub fn of_decimal(number: Decimal) -> Moment {
    i128::from(number.mantissa) * i128::from(power(18 - number.decimals))
}

/// Reads a number with up to 18 digits, or a date such as `2024-05-01` or `2024-05-01T13:45:10.25+02:00`.
pub fn parse(text: &[u8]) -> Option<(Moment, OrderKind)> {
    // No number has a '-' in its fifth place and another character than a digit or 'e' around it; a date is tried first.
    if text.get(4) == Some(&b'-')
        && let Some(date) = date(text.trim_ascii())
    {
        return Some(date);
    }
    match Decimal::parse(text) {
        Ok(number) => Some((of_decimal(number), OrderKind::Number)),
        Err(NotDecimal::Digits) => None,
        Err(NotDecimal::Number) => date(text.trim_ascii()),
    }
}

/// A second, as a moment.
pub(crate) const SECOND: i128 = 1_000_000_000_000_000_000;
/// A day, as a moment.
pub(crate) const DAY: i128 = 86_400 * SECOND;

/// The day of a time in UTC, as `2024-05-01`; of times before 1970, the first day of that year.
pub fn date_of(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut text = Vec::new();
    write_date(i128::from(since.as_secs()) * SECOND, false, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Writes a date in the form that is read, with or without the time of day; a fraction of a second only if there is one.
pub(crate) fn write_date(moment: Moment, with_time: bool, text: &mut Vec<u8>) {
    use std::io::Write;
    let (days, rest) = (moment.div_euclid(DAY), moment.rem_euclid(DAY));
    // Years begin in March, as below; four hundred of them have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    // Writing into memory does not fail.
    drop(write!(text, "{:04}-{month:02}-{of_month:02}", year + 400 * era));
    if with_time {
        let seconds = rest / SECOND;
        drop(write!(text, " {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
        if rest % SECOND > 0 {
            let fraction = format!(".{:018}", rest % SECOND);
            text.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
        }
    }
}

/// A whole number of up to 18 digits.
#[inline]
fn digits(text: &[u8]) -> Option<i64> {
    if !(1..=18).contains(&text.len()) {
        return None;
    }
    let mut number = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + i64::from(digit);
    }
    Some(number)
}

fn date(text: &[u8]) -> Option<(Moment, OrderKind)> {
    let (day, rest) = text.split_first_chunk::<10>()?;
    if day[4] != b'-' || day[7] != b'-' {
        return None;
    }
    let (year, month, of_month) = (digits(&day[..4])?, digits(&day[5..7])?, digits(&day[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=length).contains(&of_month) {
        return None;
    }
    // Years begin in March, so that the leap day is the last: 1461 days in four years, 153 days in five months.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + of_month
        - 719_469;
    let (seconds, fraction, kind) = match rest {
        [] => (0, 0, OrderKind::Date),
        [b'T' | b't' | b' ', time @ ..] => time_of_day(time)?,
        _ => return None,
    };
    Some((i128::from(86_400 * days + seconds) * SECOND + i128::from(fraction), kind))
}

/// The time since midnight in UTC, in whole seconds and 10⁻¹⁸ s; a time without a zone counts as UTC.
fn time_of_day(text: &[u8]) -> Option<(i64, i64, OrderKind)> {
    let zone_at =
        text.iter().position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-')).unwrap_or(text.len());
    let (clock, zone) = text.split_at(zone_at);
    let mut parts = clock.trim_ascii_end().split(|&byte| byte == b':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(second) => match second.iter().position(|&byte| byte == b'.') {
            None => (digits(second)?, 0),
            Some(point) => {
                let fraction = &second[point + 1..];
                let units = if fraction.is_empty() { 0 } else { digits(fraction)? };
                (digits(&second[..point])?, units * power(18 - fraction.len().min(18) as u8))
            }
        },
    };
    if hour > 23 || minute > 59 || second > 60 || parts.next().is_some() {
        return None;
    }
    let minutes_east = match zone {
        [] | [b'Z' | b'z'] => 0,
        [sign, h1, h2, rest @ ..] => {
            let minutes = match rest {
                [] => 0,
                [b':', m1, m2] | [m1, m2] => digits(&[*m1, *m2])?,
                _ => return None,
            };
            let hours = digits(&[*h1, *h2])?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    let kind = if zone.is_empty() { OrderKind::Date } else { OrderKind::Zoned };
    Some((hour * 3600 + minute * 60 + second - minutes_east * 60, fraction, kind))
}

#[cfg(test)]
mod tests {
    use super::{DAY, OrderKind, SECOND, date_of, parse, write_date};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn dates_are_written_as_they_are_read() {
        for day in (-800_000..800_000).step_by(331).chain([-719_162, -1, 0, 11_016, 19_782]) {
            for rest in [0, SECOND / 4, DAY - SECOND] {
                let moment = day * DAY + rest;
                let mut text = Vec::new();
                write_date(moment, true, &mut text);
                // Years below 0 and above 9999 are not read.
                if text.len() == 19 + if rest == SECOND / 4 { 3 } else { 0 } && text[0] != b'-' {
                    assert_eq!(
                        parse(&text),
                        Some((moment, OrderKind::Date)),
                        "{}",
                        String::from_utf8_lossy(&text)
                    );
                }
            }
        }
        let mut text = Vec::new();
        write_date(19_782 * DAY, false, &mut text);
        assert_eq!(text, b"2024-02-29");
        for (seconds, day) in [(0, "1970-01-01"), (951_782_400, "2000-02-29"), (1_371_340_800, "2013-06-16")]
        {
            assert_eq!(date_of(UNIX_EPOCH + Duration::from_secs(seconds)), day);
        }
    }

    #[test]
    fn numbers_and_dates_are_moments() {
        let date = |text: &str| {
            let (moment, kind) = parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            let has_zone = text.len() > 19 && !text.contains('.');
            assert_eq!(kind, if has_zone { OrderKind::Zoned } else { OrderKind::Date }, "{text}");
            moment
        };
        assert_eq!(parse(b"1.5"), Some((3 * SECOND / 2, OrderKind::Number)));
        assert_eq!(date("1970-01-01"), 0);
        assert_eq!(date("1970-01-02T00:00:01Z"), 86_401 * SECOND);
        assert_eq!(date("2000-03-01"), 951_868_800 * SECOND);
        assert_eq!(date("2024-02-29 12:30"), 1_709_209_800 * SECOND);
        assert_eq!(date("1969-12-31 23:59:59.5"), -SECOND / 2);
        assert_eq!(date("2024-05-01T12:00:00+02:00"), date("2024-05-01T10:00:00"));
        assert_eq!(date("2024-05-01T12:00:00-0330"), date("2024-05-01T15:30:00"));
        for text in [
            "",
            "x",
            "2024-13-01",
            "2023-02-29",
            "2024-05-01T25:00",
            "2024/05/01",
            "2024-05-01T",
            "2024-05-01T10",
            "2024-05-01T10:00:00+99:99",
            "2024-05-01T10:00:00+24:00",
            "2024-05-01T10:00:00-01:60",
            "1e25",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
