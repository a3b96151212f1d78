//! Names of states and actions as they are stored: plain data only, never code.

use super::{Error, Result};

/// A name of a state or an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Name {
    /// Nothing, such as Python's `None`.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number beyond 64 bits: its two's complement, little-endian.
    BigInt(Vec<u8>),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several names in order.
    Tuple(Vec<Name>),
    /// The encoding of any other kind of name by the caller; the caller's decoder reverses it.
    Encoded(Box<Name>),
}

/// Tuples nested deeper than this are refused: reading them would need too much stack.
pub(crate) const MAX_DEPTH: usize = 100;

impl Name {
    /// The name as text for people.
    pub fn text(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::BigInt(bytes) => num_bigint::BigInt::from_signed_bytes_le(bytes).to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(value) => value.clone(),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Tuple(names) => {
                format!("({})", names.iter().map(Self::text).collect::<Vec<_>>().join(", "))
            }
            Self::Encoded(name) => name.text(),
        }
    }

    /// Appends the name: one byte that says what it is, then its data.
    fn write(&self, bytes: &mut Vec<u8>) {
        let mut sized = |tag: u8, data: &[u8]| {
            bytes.push(tag);
            bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
            bytes.extend_from_slice(data);
        };
        match self {
            Self::None => bytes.push(b'n'),
            Self::Bool(false) => bytes.push(b'0'),
            Self::Bool(true) => bytes.push(b'1'),
            Self::Int(number) => {
                bytes.push(b'i');
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Self::BigInt(digits) => sized(b'I', digits),
            Self::Float(number) => {
                bytes.push(b'f');
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Self::Text(text) => sized(b's', text.as_bytes()),
            Self::Bytes(data) => sized(b'b', data),
            Self::Tuple(names) => {
                bytes.push(b't');
                bytes.extend_from_slice(&(names.len() as u64).to_le_bytes());
                names.iter().for_each(|name| name.write(bytes));
            }
            Self::Encoded(name) => {
                bytes.push(b'e');
                name.write(bytes);
            }
        }
    }

    /// Takes a name from the front of bytes; `None` if they do not start with one.
    fn read(bytes: &mut &[u8], depth: usize) -> Option<Self> {
        fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
            let (taken, rest) = bytes.split_at_checked(n)?;
            *bytes = rest;
            Some(taken)
        }
        fn word(bytes: &mut &[u8]) -> Option<[u8; 8]> {
            take(bytes, 8)?.try_into().ok()
        }
        fn sized(bytes: &mut &[u8]) -> Option<Vec<u8>> {
            let length = usize::try_from(u64::from_le_bytes(word(bytes)?)).ok()?;
            Some(take(bytes, length)?.to_vec())
        }
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match take(bytes, 1)?[0] {
            b'n' => Self::None,
            b'0' => Self::Bool(false),
            b'1' => Self::Bool(true),
            b'i' => Self::Int(i64::from_le_bytes(word(bytes)?)),
            b'I' => Self::BigInt(sized(bytes)?),
            b'f' => Self::Float(f64::from_le_bytes(word(bytes)?)),
            b's' => Self::Text(String::from_utf8(sized(bytes)?).ok()?),
            b'b' => Self::Bytes(sized(bytes)?),
            b't' => {
                let n = u64::from_le_bytes(word(bytes)?);
                // Each name takes at least a byte, so a false length fails early and allocates nothing.
                let names = (0..n).map(|_| Self::read(bytes, depth + 1)).collect::<Option<Vec<_>>>()?;
                Self::Tuple(names)
            }
            b'e' => Self::Encoded(Box::new(Self::read(bytes, depth + 1)?)),
            _ => return None,
        })
    }

    /// Returns whether no part of the name went through the caller's encoder.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Tuple(names) => names.iter().all(Self::is_plain),
            Self::Encoded(_) => false,
            _ => true,
        }
    }

    /// The depth to which tuples are nested in it.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Tuple(names) => 1 + names.iter().map(Self::depth).max().unwrap_or(0),
            Self::Encoded(name) => 1 + name.depth(),
            _ => 0,
        }
    }
}

/// A list of names as bytes.
///
/// # Errors
/// If tuples are nested more than 100 deep.
pub fn encode_names(names: &[Name]) -> Result<Vec<u8>> {
    let mut bytes = (names.len() as u64).to_le_bytes().to_vec();
    for (i, name) in names.iter().enumerate() {
        if name.depth() > MAX_DEPTH {
            let problem = format!("name {i} has tuples nested more than {MAX_DEPTH} deep");
            return Err(crate::Error::Snapshot { part: "names".into(), problem }.into());
        }
        name.write(&mut bytes);
    }
    Ok(bytes)
}

/// The list of names in bytes that [`encode_names`] made.
///
/// # Errors
/// If they are not such bytes; `part` says where they come from.
pub fn decode_names(part: &str, mut bytes: &[u8]) -> Result<Vec<Name>> {
    let all = bytes.len();
    let Some((count, rest)) = bytes.split_first_chunk() else {
        return Err(Error::damaged(part, "it is too short to hold a length"));
    };
    bytes = rest;
    let count = u64::from_le_bytes(*count);
    let mut names = Vec::new();
    for i in 0..count {
        let place = all - bytes.len();
        let name = Name::read(&mut bytes, 0);
        names.push(name.ok_or_else(|| {
            Error::damaged(part, format!("name {i} of {count}, at byte {place}, is not a valid name"))
        })?);
    }
    if !bytes.is_empty() {
        return Err(Error::damaged(part, format!("{} bytes remain after its {count} names", bytes.len())));
    }
    Ok(names)
}
