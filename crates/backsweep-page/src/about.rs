//! Everything that a page gets when it opens: the available choices, the colors, the published points.

use crate::palette;
use backsweep_worlds::World;
use backsweep_worlds::grid_world::drawable_worlds;
use serde_json::{Value, json};

/// The published points of Figure 3 for moves with up to 15 outcomes: planner, update cycles per step, mean return. The
/// laboratory holds the whole table; a test compares.
pub const FIGURE_3: [(&str, u32, f64); 15] = [
    ("reversed_full_backups", 1, -51.958),
    ("reversed_full_backups", 3, -51.822),
    ("reversed_full_backups", 5, -51.884),
    ("reversed_full_backups", 10, -51.810),
    ("moore_atkeson", 1, -61.966),
    ("moore_atkeson", 3, -53.406),
    ("moore_atkeson", 5, -52.676),
    ("moore_atkeson", 10, -52.190),
    ("peng_williams", 1, -69.168),
    ("peng_williams", 3, -61.038),
    ("peng_williams", 5, -57.016),
    ("peng_williams", 10, -54.192),
    ("wiering_schmidhuber", 1, -53.174),
    ("wiering_schmidhuber", 3, -52.291),
    ("wiering_schmidhuber", 5, -52.235),
];

/// The available choices, and the published points.
pub fn about() -> Value {
    let planners =
        backsweep_baselines::PLANNERS.map(|kind| json!({ "name": kind.name(), "title": kind.title() }));
    let figure = FIGURE_3
        .map(|(planner, cycles, score)| json!({ "planner": planner, "cycles": cycles, "score": score }));
    json!({
        "version": env!("CARGO_PKG_VERSION"), "planners": planners, "colors": palette::codes(),
        "defaults": crate::scene::Scene::default(), "mazes": crate::mazes::all(), "worlds": worlds_json(),
        "exploring": crate::choices::all(), "figure_3": figure,
    })
}

/// The worlds to choose from.
fn worlds_json() -> Value {
    let one = |world: World| json!({ "name": world.name, "title": world.title, "discount": world.discount });
    drawable_worlds().into_iter().map(one).collect()
}
