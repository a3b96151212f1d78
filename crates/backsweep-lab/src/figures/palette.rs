//! One color and one mark per method, the same in every picture. The colors are those of Okabe and Ito,
//! which color-blind readers can distinguish, plus two in the same spirit; marks differ as well.

use super::chart::{Mark, Paint};
use crate::method::Method;
use backsweep::PlannerKind;
use backsweep_baselines::{MOORE_ATKESON, PENG_WILLIAMS, VALUE_ITERATION, WIERING_SCHMIDHUBER};

/// The looks of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its color.
    pub paint: Paint,
    /// Its marker.
    pub mark: Mark,
}

/// Styles of the planners.
const PLANNERS: [(PlannerKind, Paint, Mark); 6] = [
    (PlannerKind::SMALL_BACKUPS, Paint::Hex("#0072b2"), Mark::Circle),
    (PlannerKind::REVERSED_FULL_BACKUPS, Paint::Hex("#009e73"), Mark::Diamond),
    (MOORE_ATKESON, Paint::Hex("#d55e00"), Mark::Square),
    (PENG_WILLIAMS, Paint::Hex("#cc79a7"), Mark::Triangle),
    (WIERING_SCHMIDHUBER, Paint::Hex("#e69f00"), Mark::TriangleDown),
    (VALUE_ITERATION, Paint::Ink, Mark::Circle),
];

/// Styles of the agents of our suites, by their names in the experiment files.
const AGENTS: [(&str, Paint, Mark); 10] = [
    ("default", Paint::Hex("#0072b2"), Mark::Circle),
    ("best", Paint::Hex("#009e73"), Mark::Diamond),
    ("epsilon_greedy", Paint::Hex("#8c8c8c"), Mark::Square),
    ("optimism", Paint::Hex("#e69f00"), Mark::TriangleDown),
    ("count_bonus", Paint::Hex("#56b4e9"), Mark::Circle),
    ("variance_bonus", Paint::Hex("#d55e00"), Mark::Square),
    ("bayes_bonus", Paint::Hex("#cc79a7"), Mark::Triangle),
    ("achievable_bonus", Paint::Hex("#0072b2"), Mark::Diamond),
    ("posterior_sampling", Paint::Hex("#a6611a"), Mark::Triangle),
    ("forgetting", Paint::Hex("#7a68c4"), Mark::TriangleDown),
];

/// Styles for methods of a user.
const OTHERS: [(Paint, Mark); 4] = [
    (Paint::Hex("#7a68c4"), Mark::Diamond),
    (Paint::Hex("#b8a800"), Mark::Circle),
    (Paint::Hex("#c0504d"), Mark::TriangleDown),
    (Paint::Hex("#5f8f8f"), Mark::Square),
];

fn other(name: &str) -> (Paint, Mark) {
    let sum: usize = name.bytes().map(usize::from).sum();
    OTHERS[sum % OTHERS.len()]
}

/// The style of `method`. A method of a user gets a style from its name, always the same.
pub fn look(method: &Method) -> Look {
    let (paint, mark) = match method {
        Method::SmallBackup => (Paint::Hex("#0072b2"), Mark::Circle),
        Method::Planner(kind) => {
            let known = PLANNERS.iter().find(|(planner, ..)| planner == kind);
            known.map_or_else(|| other(kind.name()), |(_, paint, mark)| (*paint, *mark))
        }
        Method::RMax => (Paint::Hex("#8c8c8c"), Mark::Square),
        Method::TdConstant => (Paint::Hex("#a6611a"), Mark::Square),
        Method::TdDecaying => (Paint::Hex("#56b4e9"), Mark::Triangle),
        Method::Other(name) => {
            let known = AGENTS.iter().find(|(agent, ..)| agent == name);
            known.map_or_else(|| other(name), |(_, paint, mark)| (*paint, *mark))
        }
    };
    Look { paint, mark }
}
