//! One colour and one mark per method, the same in every picture. The colours are those of Okabe and Ito,
//! which colour-blind readers can distinguish, plus two in the same spirit; marks differ as well.

use super::chart::{Mark, Paint};

/// How a method looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub paint: Paint,
    /// Its marker.
    pub mark: Mark,
}

const KNOWN: [(&str, Paint, Mark); 20] = [
    ("small_backups", Paint::Hex("#0072b2"), Mark::Circle),
    ("reversed_full_backups", Paint::Hex("#009e73"), Mark::Diamond),
    ("moore_atkeson", Paint::Hex("#d55e00"), Mark::Square),
    ("peng_williams", Paint::Hex("#cc79a7"), Mark::Triangle),
    ("wiering_schmidhuber", Paint::Hex("#e69f00"), Mark::TriangleDown),
    ("value_iteration", Paint::Ink, Mark::Circle),
    ("r_max", Paint::Hex("#8c8c8c"), Mark::Square),
    ("small_backup", Paint::Hex("#0072b2"), Mark::Circle),
    ("td_constant", Paint::Hex("#a6611a"), Mark::Square),
    ("td_decaying", Paint::Hex("#56b4e9"), Mark::Triangle),
    ("default", Paint::Hex("#0072b2"), Mark::Circle),
    ("best", Paint::Hex("#009e73"), Mark::Diamond),
    ("epsilon_greedy", Paint::Hex("#8c8c8c"), Mark::Square),
    ("optimism", Paint::Hex("#e69f00"), Mark::TriangleDown),
    ("count_bonus", Paint::Hex("#56b4e9"), Mark::Circle),
    ("variance_bonus", Paint::Hex("#d55e00"), Mark::Square),
    ("bayes_bonus", Paint::Hex("#cc79a7"), Mark::Triangle),
    ("surprise_bonus", Paint::Hex("#0072b2"), Mark::Diamond),
    ("posterior_sampling", Paint::Hex("#a6611a"), Mark::Triangle),
    ("forgetting", Paint::Hex("#7a68c4"), Mark::TriangleDown),
];

/// Styles for methods that are not in the paper: a user's own planner.
const OTHERS: [(Paint, Mark); 4] = [
    (Paint::Hex("#7a68c4"), Mark::Diamond),
    (Paint::Hex("#b8a800"), Mark::Circle),
    (Paint::Hex("#c0504d"), Mark::TriangleDown),
    (Paint::Hex("#5f8f8f"), Mark::Square),
];

/// The style of `method`. A method that is not in the paper gets a style from its name, always the same.
pub fn look(method: &str) -> Look {
    let known = KNOWN.iter().find(|(name, ..)| *name == method).map(|(_, paint, mark)| (*paint, *mark));
    let (paint, mark) = known.unwrap_or_else(|| {
        let sum: usize = method.bytes().map(usize::from).sum();
        OTHERS[sum % OTHERS.len()]
    });
    Look { paint, mark }
}
