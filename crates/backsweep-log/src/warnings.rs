//! Warnings about parts of a log that are probably not meant as they were read: counted, and refused by [`Spec::strict`].

use crate::counts::Counts;
use crate::decimal::Decimal;
use crate::error::shown;
use crate::join::MergedCounts;
use crate::spec::Spec;
use crate::wording::{SpecField, Wording};
use std::collections::{BTreeMap, BTreeSet};

/// Names that differ only in spaces or in how a number is written, by their plain form. Of names that are plain already, only
/// those with another spelling are held.
#[derive(Default)]
pub(crate) struct Spellings(BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>);

impl Spellings {
    /// Adds a name, if it is not plain.
    pub fn add(&mut self, name: &[u8]) {
        if let Some(plain) = plain(name) {
            self.0.entry(plain).or_default().insert(name.to_vec());
        }
    }

    /// Adds the plain names that exist, after all others.
    pub fn add_plain(&mut self, exists: impl Fn(&[u8]) -> bool) {
        for (plain, names) in &mut self.0 {
            if exists(plain) {
                names.insert(plain.clone());
            }
        }
    }

    fn warning(&self, what: &str) -> Option<Wording> {
        let same = || self.0.values().filter(|names| names.len() > 1);
        let (n, mut first) = (same().map(BTreeSet::len).sum::<usize>(), same().next()?.iter());
        let (a, b) = (shown(first.next()?), shown(first.next()?));
        let problem = "differ only in spaces or in how a number is written";
        Some(format!("{n} {what} {problem}, such as {a} and {b}; each is counted separately").into())
    }
}

/// A name without spaces around it, and as a number in its shortest form; `None` if it is so already.
pub(crate) fn plain(name: &[u8]) -> Option<Vec<u8>> {
    let may_differ = |part: &[u8]| {
        matches!(part, [b' ' | b'\t' | b'+' | b'-' | b'0', ..] | [.., b' ' | b'\t']) || part.contains(&b'.')
    };
    if !name.split(|&byte| byte == b'|').any(may_differ) {
        return None;
    }
    let part = |part: &[u8]| match Decimal::parse(part) {
        Ok(number) => number.to_string().into_bytes(),
        Err(_) => part.trim_ascii().to_vec(),
    };
    let plain = name.split(|&byte| byte == b'|').map(part).collect::<Vec<_>>().join(&b'|');
    (plain != name).then_some(plain)
}

/// All warnings about a log that was read.
pub(crate) fn warnings(spec: &Spec, merged: &MergedCounts) -> Vec<Wording> {
    let [_, naive, zoned] = merged.orders;
    let order = spec.order.as_deref().unwrap_or_default();
    let zones = (naive > 0 && zoned > 0).then(|| {
        let found = format!("{zoned} times with a zone and {naive} without");
        format!("column '{order}' (the order) has {found}; those without are taken as UTC").into()
    });
    let n = merged.n_interleaved;
    let interleaved = (n > 0 && spec.order.is_none()).then(|| {
        let text = format!("the rows of {n} cases are not together, and are taken in the order of the log");
        Wording::from(text).offer("; name the column that orders them with ", SpecField::Order, "")
    });
    let cases = merged.spellings.warning("cases");
    cases.into_iter().chain(zones).chain(interleaved).collect()
}

/// Warnings about the names in counts.
pub(crate) fn name_warnings(counts: &Counts) -> impl Iterator<Item = Wording> {
    let warning = |what, names: &[String]| {
        let mut spellings = Spellings::default();
        names.iter().for_each(|name| spellings.add(name.as_bytes()));
        spellings.add_plain(|plain| names.binary_search_by(|name| name.as_bytes().cmp(plain)).is_ok());
        spellings.warning(what)
    };
    warning("states", &counts.states).into_iter().chain(warning("actions", &counts.actions))
}
