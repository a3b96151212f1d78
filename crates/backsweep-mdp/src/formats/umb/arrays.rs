//! The arrays of an archive, read in chunks: an entry never takes more memory than it has bytes.

use super::super::number;
use super::NumberType;
use crate::{Error, Result};
use std::io::Read;

/// The number of bytes that are read at a time.
const PIECE: usize = 1 << 16;

/// Reads `n` items of `width` bytes, and passes each one on.
fn items(
    entry: &str,
    size: u64,
    input: &mut dyn Read,
    n: usize,
    width: usize,
    mut take: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<()> {
    if size != n as u64 * width as u64 {
        let expected = n as u64 * width as u64;
        let problem = format!("found {size} bytes; expected {expected}: {n} items of {width} bytes");
        return Err(Error::new(entry, problem));
    }
    let mut piece = vec![0; (PIECE / width).max(1) * width];
    let mut done = 0;
    while done < n {
        let now = (piece.len() / width).min(n - done);
        let bytes = &mut piece[..now * width];
        input.read_exact(bytes).map_err(|error| ended(entry, done, n, &error))?;
        for (i, item) in bytes.chunks_exact(width).enumerate() {
            take(done + i, item)?;
        }
        done += now;
    }
    Ok(())
}

fn ended(entry: &str, done: usize, n: usize, error: &std::io::Error) -> Error {
    Error::new(
        format!("{entry}[{done}]"),
        format!("the archive ends or is damaged ({error}); expected {n} items"),
    )
}

/// Ids or offsets, which must be below 2³².
pub fn ids(
    entry: &str,
    size: u64,
    input: &mut dyn Read,
    n: usize,
    guess: usize,
    width: usize,
) -> Result<Vec<u32>> {
    let mut ids = Vec::with_capacity(n.min(guess));
    items(entry, size, input, n, width, |i, item| {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(item);
        let id = u64::from_le_bytes(bytes);
        ids.push(u32::try_from(id).map_err(|_| {
            Error::new(format!("{entry}[{i}]"), format!("found {id}; expected a number below {}", u32::MAX))
        })?);
        Ok(())
    })?;
    Ok(ids)
}

/// Numbers of any type, as doubles.
pub fn numbers(
    entry: &str,
    size: u64,
    input: &mut dyn Read,
    n: usize,
    guess: usize,
    kind: NumberType,
) -> Result<Vec<f64>> {
    let mut values = Vec::with_capacity(n.min(guess));
    let width = match kind {
        NumberType::Double => 8,
        NumberType::Rational(width) | NumberType::Whole(width, _) => width,
    };
    items(entry, size, input, n, width, |i, item| {
        let value = match kind {
            NumberType::Double => item.try_into().ok().map(f64::from_le_bytes),
            NumberType::Rational(_) => number::from_bytes(item),
            NumberType::Whole(width, signed) => {
                let mut bytes = [if signed && item[width - 1] >= 0x80 { 0xff } else { 0 }; 8];
                bytes[..width].copy_from_slice(item);
                Some(if signed { i64::from_le_bytes(bytes) as f64 } else { u64::from_le_bytes(bytes) as f64 })
            }
        };
        match value.filter(|value| value.is_finite()) {
            Some(value) => values.push(value),
            None => {
                return Err(Error::new(
                    format!("{entry}[{i}]"),
                    "found a value that is not finite; expected a finite number",
                ));
            }
        }
        Ok(())
    })?;
    Ok(values)
}

/// The places of the set bits; there may be more bits than `n`, all 0.
pub fn bits(entry: &str, size: u64, input: &mut dyn Read, n: usize) -> Result<Vec<u32>> {
    let (least, most) = (n.div_ceil(8) as u64, n.div_ceil(64) as u64 * 8);
    if !(least..=most).contains(&size) {
        let problem = format!("found {size} bytes; expected {least} to {most}: {n} bits, padded to 8 bytes");
        return Err(Error::new(entry, problem));
    }
    let mut set = Vec::new();
    items(entry, size, input, size as usize, 1, |i, byte| {
        for bit in (0..8).filter(|bit| byte[0] >> bit & 1 == 1) {
            let at = 8 * i + bit;
            if at >= n {
                return Err(Error::new(
                    format!("{entry}[{at}]"),
                    format!("found a bit set; there are {n} bits"),
                ));
            }
            set.push(at as u32);
        }
        Ok(())
    })?;
    Ok(set)
}

/// Text cut at offsets.
pub fn names(entry: &str, text: &[u8], ends: &[u32]) -> Result<Vec<String>> {
    let name = |(i, pair): (usize, &[u32])| {
        let found =
            text.get(pair[0] as usize..pair[1] as usize).and_then(|part| std::str::from_utf8(part).ok());
        found.map(str::to_owned).ok_or_else(|| {
            let problem =
                format!("found no UTF-8 text in bytes {} to {} of {}", pair[0], pair[1], text.len());
            Error::new(format!("{entry}[{i}]"), problem)
        })
    };
    ends.windows(2).enumerate().map(name).collect()
}
