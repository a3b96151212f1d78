//! The bytes of a file, version 3 (docs/format.md): a header with a table of sections, then the sections' arrays.
//!
//! Invariant: every byte of a file is covered by a checksum or compared with the one value it may have, so that every
//! single-bit change is detected.

use super::{Error, Result};
use crate::planner::{Array, Snapshot};

/// The first eight bytes of every file. The first is not text, and changed line endings break the rest, so that damage by text
/// tools is visible.
pub const MAGIC: [u8; 8] = *b"\x89BSW\r\n\x1a\n";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 3;

/// Magic, version, number of sections, bytes of the table, bytes of the file.
pub(crate) const HEADER: usize = 8 + 4 + 4 + 8 + 8;
/// An entry of the table without its name: length of the name, type, number of items, checksum.
const ENTRY: usize = 4 + 4 + 8 + 4;
/// Sections begin at multiples of this.
const ALIGN: usize = 8;

/// The types of items, by their tag in a file.
const KINDS: [(&str, usize); 4] = [("f64", 8), ("u32", 4), ("u64", 8), ("bytes", 1)];

fn kind_of(array: &Array) -> u32 {
    match array {
        Array::F64(_) => 0,
        Array::U32(_) => 1,
        Array::U64(_) => 2,
        Array::Bytes(_) => 3,
    }
}

fn len_of(array: &Array) -> usize {
    match array {
        Array::F64(items) => items.len(),
        Array::U32(items) => items.len(),
        Array::U64(items) => items.len(),
        Array::Bytes(items) => items.len(),
    }
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(ALIGN)
}

/// The bytes of a file that holds these arrays.
pub fn encode(snapshot: &Snapshot) -> Vec<u8> {
    let table_bytes = padded(snapshot.iter().map(|(name, _)| ENTRY + name.len()).sum::<usize>());
    let sizes = snapshot.iter().map(|(_, array)| padded(len_of(array) * KINDS[kind_of(array) as usize].1));
    let file_bytes = HEADER + table_bytes + 8 + sizes.sum::<usize>();

    let mut sections = Vec::with_capacity(file_bytes);
    let mut table = Vec::with_capacity(table_bytes);
    for (name, array) in snapshot.iter() {
        let start = sections.len();
        match array {
            Array::F64(items) => items.iter().for_each(|x| sections.extend_from_slice(&x.to_le_bytes())),
            Array::U32(items) => items.iter().for_each(|x| sections.extend_from_slice(&x.to_le_bytes())),
            Array::U64(items) => items.iter().for_each(|x| sections.extend_from_slice(&x.to_le_bytes())),
            Array::Bytes(items) => sections.extend_from_slice(items),
        }
        sections.resize(padded(sections.len()), 0);
        table.extend_from_slice(&(name.len() as u32).to_le_bytes());
        table.extend_from_slice(name.as_bytes());
        table.extend_from_slice(&kind_of(array).to_le_bytes());
        table.extend_from_slice(&(len_of(array) as u64).to_le_bytes());
        table.extend_from_slice(&crc32fast::hash(&sections[start..]).to_le_bytes());
    }
    table.resize(table_bytes, 0);

    let mut bytes = Vec::with_capacity(file_bytes);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(snapshot.iter().count() as u32).to_le_bytes());
    bytes.extend_from_slice(&(table_bytes as u64).to_le_bytes());
    bytes.extend_from_slice(&(file_bytes as u64).to_le_bytes());
    bytes.append(&mut table);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&u64::from(checksum).to_le_bytes());
    bytes.append(&mut sections);
    bytes
}

/// Takes numbers and slices from the front of bytes; `None` if the bytes end too early.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }
}

/// The first bytes of a file, decoded.
struct Header {
    n_sections: u32,
    table_bytes: u64,
}

/// Reads the header of a file of this length.
fn header(reader: &mut Reader<'_>, length: u64) -> Result<Header> {
    let cut = || Error::damaged("header", "it ends too early");
    if reader.array() != Some(MAGIC) {
        return Err(Error::NotBacksweep);
    }
    let version = reader.u32().ok_or_else(cut)?;
    if version != VERSION {
        return Err(Error::Version { found: version, expected: VERSION });
    }
    let n_sections = reader.u32().ok_or_else(cut)?;
    let table_bytes = reader.u64().ok_or_else(cut)?;
    let file_bytes = reader.u64().ok_or_else(cut)?;
    if file_bytes != length {
        let problem = format!("expected a file of {file_bytes} bytes, found {length}");
        return Err(Error::damaged("header", problem));
    }
    Ok(Header { n_sections, table_bytes })
}

/// Checks the first [`HEADER`] bytes of a file (or all of a shorter one) against its length, which bounds what is read next.
pub(crate) fn declared_length(bytes: &[u8], length: u64) -> Result<u64> {
    header(&mut Reader(bytes), length).map(|_| length)
}

/// The arrays in the bytes of a file.
///
/// # Errors
/// If the bytes are not exactly those of a file that this version knows. No memory is allocated beyond the size of `bytes`.
pub fn decode(bytes: &[u8]) -> Result<Snapshot> {
    let mut reader = Reader(bytes);
    let Header { n_sections, table_bytes } = header(&mut reader, bytes.len() as u64)?;
    let table = usize::try_from(table_bytes).ok().and_then(|n| reader.take(n)).ok_or_else(|| {
        Error::damaged("header", format!("its table claims {table_bytes} bytes, more than the file has"))
    })?;
    let checksum = reader.u64().ok_or_else(|| Error::damaged("header", "it ends too early"))?;
    if checksum != u64::from(crc32fast::hash(&bytes[..HEADER + table.len()])) {
        return Err(Error::damaged("header", "its checksum is wrong"));
    }

    let mut snapshot = Snapshot::new();
    let mut table = Reader(table);
    for i in 0..n_sections {
        let (name, array) = section(&mut table, &mut reader)
            .map_err(|problem| Error::damaged(&format!("section {i} of {n_sections}"), problem))?;
        if snapshot.get(&name).is_some() {
            return Err(Error::damaged(&format!("section '{name}'"), "it occurs twice"));
        }
        snapshot.put(&name, array);
    }
    if table.0.len() >= ALIGN || table.0.iter().any(|&byte| byte != 0) || !reader.0.is_empty() {
        return Err(Error::damaged("header", "the file holds more than its table lists"));
    }
    Ok(snapshot)
}

/// Reads the next entry of the table and its section.
fn section(table: &mut Reader<'_>, data: &mut Reader<'_>) -> std::result::Result<(String, Array), String> {
    let mut entry = || {
        let length = table.u32()? as usize;
        Some((table.take(length)?, table.u32()?, table.u64()?, table.u32()?))
    };
    let (name, kind, n_items, checksum) = entry().ok_or("the table ends too early")?;
    let name = std::str::from_utf8(name).map_err(|_| "its name is not UTF-8")?;
    let &(kind, size) = KINDS
        .get(kind as usize)
        .ok_or_else(|| format!("'{name}' has unknown type tag {kind}; expected 0 to 3"))?;
    let left = data.0.len();
    let items = usize::try_from(n_items)
        .ok()
        .and_then(|n| n.checked_mul(size))
        .filter(|&length| length <= left)
        .and_then(|length| Some((length, data.take(padded(length))?)));
    let Some((length, items)) = items else {
        return Err(format!("'{name}' claims {n_items} items of type {kind}, but only {left} bytes remain"));
    };
    if crc32fast::hash(items) != checksum {
        return Err(format!("'{name}' has a wrong checksum"));
    }
    if items[length..].iter().any(|&byte| byte != 0) {
        return Err(format!("'{name}' is padded with bytes other than 0"));
    }
    let items = &items[..length];
    fn numbers<const N: usize, T>(items: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
        items.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
    }
    let array = match kind {
        "f64" => Array::F64(numbers(items, f64::from_le_bytes)),
        "u32" => Array::U32(numbers(items, u32::from_le_bytes)),
        "u64" => Array::U64(numbers(items, u64::from_le_bytes)),
        _ => Array::Bytes(items.to_vec()),
    };
    Ok((name.to_owned(), array))
}
