//! One colour and one mark per method, the same in every picture. The colours are those of Okabe and Ito,
//! which colour-blind readers can distinguish, plus two in the same spirit; marks differ as well.

use super::chart::{Mark, Paint};
use crate::method::Method;
use backsweep::PlannerKind;

/// How a method looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its colour.
    pub paint: Paint,
    /// Its marker.
    pub mark: Mark,
}

/// Styles of the agents of our suites, by their names in the experiment files.
const AGENTS: [(&str, Paint, Mark); 10] = [
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

/// Styles for methods of a user.
const OTHERS: [(Paint, Mark); 4] = [
    (Paint::Hex("#7a68c4"), Mark::Diamond),
    (Paint::Hex("#b8a800"), Mark::Circle),
    (Paint::Hex("#c0504d"), Mark::TriangleDown),
    (Paint::Hex("#5f8f8f"), Mark::Square),
];

/// The style of `method`. A method of a user gets a style from its name, always the same.
pub fn look(method: &Method) -> Look {
    let (paint, mark) = match method {
        Method::Planner(PlannerKind::SmallBackups) | Method::SmallBackup => {
            (Paint::Hex("#0072b2"), Mark::Circle)
        }
        Method::Planner(PlannerKind::ReversedFullBackups) => (Paint::Hex("#009e73"), Mark::Diamond),
        Method::Planner(PlannerKind::MooreAtkeson) => (Paint::Hex("#d55e00"), Mark::Square),
        Method::Planner(PlannerKind::PengWilliams) => (Paint::Hex("#cc79a7"), Mark::Triangle),
        Method::Planner(PlannerKind::WieringSchmidhuber) => (Paint::Hex("#e69f00"), Mark::TriangleDown),
        Method::Planner(PlannerKind::ValueIteration) => (Paint::Ink, Mark::Circle),
        Method::RMax => (Paint::Hex("#8c8c8c"), Mark::Square),
        Method::TdConstant => (Paint::Hex("#a6611a"), Mark::Square),
        Method::TdDecaying => (Paint::Hex("#56b4e9"), Mark::Triangle),
        Method::Other(name) => {
            let known = AGENTS.iter().find(|(agent, ..)| agent == name);
            known.map(|(_, paint, mark)| (*paint, *mark)).unwrap_or_else(|| {
                let sum: usize = name.bytes().map(usize::from).sum();
                OTHERS[sum % OTHERS.len()]
            })
        }
    };
    Look { paint, mark }
}
