//! One color and one mark per method, the same in every picture. The colors are those of Okabe and Ito,
//! which color-blind readers can distinguish, plus two in the same spirit; marks differ as well.

use super::chart::{INK, LineStyle, Mark, Point, Series};
use crate::method::Method;

/// The looks of the paper's methods and of the agents of our suites, by their names in files.
const KNOWN: [(&str, &str, Mark); 20] = [
    ("small_backups", "#0072b2", Mark::Circle),
    ("reversed_full_backups", "#009e73", Mark::Diamond),
    ("moore_atkeson", "#d55e00", Mark::Square),
    ("peng_williams", "#cc79a7", Mark::Triangle),
    ("wiering_schmidhuber", "#e69f00", Mark::TriangleDown),
    ("value_iteration", INK, Mark::Circle),
    ("r_max", "#8c8c8c", Mark::Square),
    ("small_backup", "#0072b2", Mark::Circle),
    ("td_constant", "#a6611a", Mark::Square),
    ("td_decaying", "#56b4e9", Mark::Triangle),
    ("default", "#0072b2", Mark::Circle),
    ("best", "#009e73", Mark::Diamond),
    ("epsilon_greedy", "#8c8c8c", Mark::Square),
    ("optimism", "#e69f00", Mark::TriangleDown),
    ("count_bonus", "#56b4e9", Mark::Circle),
    ("variance_bonus", "#d55e00", Mark::Square),
    ("bayes_bonus", "#cc79a7", Mark::Triangle),
    ("achievable_bonus", "#0072b2", Mark::Diamond),
    ("posterior_sampling", "#a6611a", Mark::Triangle),
    ("forgetting", "#7a68c4", Mark::TriangleDown),
];

/// Looks for methods of a user.
const OTHERS: [(&str, Mark); 4] = [
    ("#7a68c4", Mark::Diamond),
    ("#b8a800", Mark::Circle),
    ("#c0504d", Mark::TriangleDown),
    ("#5f8f8f", Mark::Square),
];

/// The color and the mark of `method`. A method of a user gets them from its name, always the same.
pub fn look(method: &Method) -> (&'static str, Mark) {
    let known = KNOWN.iter().find(|(name, ..)| *name == method.name());
    let sum: usize = method.name().bytes().map(usize::from).sum();
    known.map_or(OTHERS[sum % OTHERS.len()], |(_, color, mark)| (*color, *mark))
}

/// Points of a method, joined by a line.
pub fn curve(method: &Method, points: Vec<Point>) -> Series {
    let (color, mark) = look(method);
    Series::curve(method.title(), color, LineStyle::Solid, points).marked(mark)
}

/// The one value of a method that does not depend on x.
pub fn level(method: &Method, line: LineStyle, point: Point) -> Series {
    Series::level(method.title(), look(method).0, line, point)
}

/// Published points of a method: hollow, and not in the legend.
pub fn published(method: &Method, points: Vec<Point>) -> Series {
    let (color, mark) = look(method);
    let mut series = Series::marks("", color, mark, points).hollow();
    series.name = format!("{}, published", method.title());
    series
}
