//! One colour and one sign for each method, the same in every picture. The colours are those of Okabe and Ito,
//! which colour-blind readers can tell apart, and two that keep to their rule; signs differ as well.

use super::chart::{Mark, Paint};

/// How a method looks and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub paint: Paint,
    /// Its sign.
    pub mark: Mark,
}

const KNOWN: [(&str, &str, Paint, Mark); 10] = [
    ("small_backups", "Small backups", Paint::Hex("#0072b2"), Mark::Circle),
    ("reversed_full_backups", "Reversed full backups", Paint::Hex("#009e73"), Mark::Diamond),
    ("moore_atkeson", "Moore & Atkeson", Paint::Hex("#d55e00"), Mark::Square),
    ("peng_williams", "Peng & Williams", Paint::Hex("#cc79a7"), Mark::Triangle),
    ("wiering_schmidhuber", "Wiering & Schmidhuber", Paint::Hex("#e69f00"), Mark::TriangleDown),
    ("value_iteration", "Value iteration", Paint::Ink, Mark::Circle),
    ("r_max", "R-max", Paint::Hex("#8c8c8c"), Mark::Square),
    ("small_backup", "One small backup a step", Paint::Hex("#0072b2"), Mark::Circle),
    ("td_constant", "TD(0), constant step size", Paint::Hex("#a6611a"), Mark::Square),
    ("td_decaying", "TD(0), decaying step size", Paint::Hex("#56b4e9"), Mark::Triangle),
];

/// Looks for methods that are not in the paper: a user's own planner.
const OTHERS: [(Paint, Mark); 4] = [
    (Paint::Hex("#7a68c4"), Mark::Diamond),
    (Paint::Hex("#b8a800"), Mark::Circle),
    (Paint::Hex("#c0504d"), Mark::TriangleDown),
    (Paint::Hex("#5f8f8f"), Mark::Square),
];

/// The look of `method`. A method that the paper does not know gets a look from its name, always the same.
pub fn look(method: &str) -> Look {
    let known = KNOWN.iter().find(|(name, ..)| *name == method).map(|(_, _, paint, mark)| (*paint, *mark));
    let (paint, mark) = known.unwrap_or_else(|| {
        let sum: usize = method.bytes().map(usize::from).sum();
        OTHERS[sum % OTHERS.len()]
    });
    Look { paint, mark }
}

/// What a reader calls `method`: its name in words.
pub fn title(method: &str) -> String {
    match KNOWN.iter().find(|(name, ..)| *name == method) {
        Some((_, title, ..)) => (*title).to_string(),
        None => {
            let words = method.replace('_', " ");
            let mut letters = words.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    }
}

/// The place of `method` in tables and legends: the paper's own method first.
pub fn rank(method: &str) -> usize {
    KNOWN.iter().position(|(name, ..)| *name == method).unwrap_or(KNOWN.len())
}
