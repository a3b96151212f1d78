//! The whole state of a model or planner as named arrays: what is written to a file and read back,
//! bit for bit.
//!
//! The kernel does no input or output; `backsweep::save` writes snapshots to files.

use crate::{Error, Random, Result};
use std::collections::BTreeMap;
use std::ops::Bound;

/// One named array of a [`Snapshot`].
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Values, weights, priorities.
    F64(Vec<f64>),
    /// Ids.
    U32(Vec<u32>),
    /// Counters and random generators.
    U64(Vec<u64>),
    /// Text and flags.
    Bytes(Vec<u8>),
}

macro_rules! from_array {
    ($kind:ident, $item:ty) => {
        impl From<Vec<$item>> for Array {
            fn from(items: Vec<$item>) -> Self {
                Self::$kind(items)
            }
        }
    };
}
from_array!(F64, f64);
from_array!(U32, u32);
from_array!(U64, u64);
from_array!(Bytes, u8);

/// Named arrays, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    arrays: BTreeMap<String, Array>,
}

macro_rules! typed {
    ($name:ident, $kind:ident, $item:ty) => {
        /// The array of this name and type, or an error that says what was found instead.
        pub fn $name(&self, name: &str) -> Result<&[$item]> {
            match self.arrays.get(name) {
                Some(Array::$kind(items)) => Ok(items),
                Some(_) => Err(Self::problem(name, concat!("it is not an array of ", stringify!($item)))),
                None => Err(Self::problem(name, "it is missing")),
            }
        }
    };
}

impl Snapshot {
    /// No arrays.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores an array under a name, replacing any existing one.
    pub fn put(&mut self, name: &str, array: impl Into<Array>) {
        self.arrays.insert(name.to_owned(), array.into());
    }

    /// The array of this name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.get(name)
    }

    /// All arrays, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// Stores all arrays of another snapshot, with a prefix before their names.
    pub fn put_part(&mut self, prefix: &str, part: &Self) {
        for (name, array) in part.iter() {
            self.put(&format!("{prefix}{name}"), array.clone());
        }
    }

    /// The arrays whose names have this prefix, without it.
    pub fn part(&self, prefix: &str) -> Self {
        let from = self.arrays.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let of_part =
            from.map_while(|(name, array)| Some((name.strip_prefix(prefix)?.to_owned(), array.clone())));
        Self { arrays: of_part.collect() }
    }

    typed!(f64s, F64, f64);
    typed!(u32s, U32, u32);
    typed!(u64s, U64, u64);
    typed!(bytes, Bytes, u8);

    /// An array of exactly `N` items.
    fn exactly<T: Copy, const N: usize>(name: &str, items: &[T]) -> Result<[T; N]> {
        let found = Self::sized(name, items, N)?;
        Ok(std::array::from_fn(|i| found[i]))
    }

    /// An array of exactly `N` numbers; they may be anything.
    ///
    /// # Errors
    /// If the array is missing, of another type or length.
    pub fn numbers<const N: usize>(&self, name: &str) -> Result<[f64; N]> {
        Self::exactly(name, self.f64s(name)?)
    }

    /// An array of exactly `N` counts.
    ///
    /// # Errors
    /// If the array is missing, of another type or length.
    pub fn counts<const N: usize>(&self, name: &str) -> Result<[u64; N]> {
        Self::exactly(name, self.u64s(name)?)
    }

    /// The generator whose [state](Random::state) was stored under this name.
    ///
    /// # Errors
    /// If the array is missing, or not the state of a generator.
    pub fn random(&self, name: &str) -> Result<Random> {
        let state = self.counts(name)?;
        Random::from_state(state).ok_or_else(|| Self::problem(name, "it is not the state of a generator"))
    }

    /// The items, if there are as many as expected; otherwise the error that says how many there
    /// are in the part `name`.
    ///
    /// For whoever restores something of their own: `Snapshot::sized("mine.ids",
    /// snapshot.u32s("mine.ids")?, n)?`.
    pub fn sized<'a, T>(name: &str, items: &'a [T], length: usize) -> Result<&'a [T]> {
        if items.len() != length {
            return Err(Self::problem(name, &format!("expected {length} items, found {}", items.len())));
        }
        Ok(items)
    }

    /// An array of finite numbers of a certain length.
    pub fn finite(&self, name: &str, length: usize) -> Result<&[f64]> {
        self.bounded(name, length, f64::MAX)
    }

    /// An array of a certain length of numbers that are at most `most`, without sign; none is NaN.
    pub fn bounded(&self, name: &str, length: usize, most: f64) -> Result<&[f64]> {
        let items = Self::sized(name, self.f64s(name)?, length)?;
        match items.iter().position(|x| x.is_nan() || x.abs() > most) {
            Some(i) => {
                let problem =
                    format!("item {i} is {}; expected a number from {:e} to {most:e}", items[i], -most);
                Err(Self::problem(name, &problem))
            }
            None => Ok(items),
        }
    }

    /// The error that says what is wrong with a part.
    pub fn problem(name: &str, problem: &str) -> Error {
        Error::Snapshot { part: name.to_owned(), problem: problem.to_owned() }
    }
}
