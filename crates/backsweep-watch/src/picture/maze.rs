//! The maze of one agent: values as colors, the greedy policy as arrows, the queue as a glow.

use super::{Theme, hex, rect};
use crate::engine::frame::AgentFrame;
use crate::engine::report::most_urgent;
use crate::palette::{color, is_dark, mix, rgb};
use backsweep::State;
use backsweep_worlds::CellKind;
use backsweep_worlds::grid_world::{EIGHT_DIRECTIONS, GridWorld, MAX_ACTIONS};
use std::fmt::Write as _;

/// The number of the most urgent states that are marked.
const N_GLOWING: usize = 20;

/// The place and size of cells.
struct CellLayout {
    left: f64,
    top: f64,
    side: f64,
    columns: usize,
    /// The lowest and highest value.
    span: (f64, f64),
}

impl CellLayout {
    fn corner(&self, cell: usize) -> (f64, f64) {
        let (column, row) = ((cell % self.columns) as f64, (cell / self.columns) as f64);
        (self.left + self.side * column, self.top + self.side * row)
    }

    fn center(&self, cell: usize) -> (f64, f64) {
        let (x, y) = self.corner(cell);
        (x + self.side / 2.0, y + self.side / 2.0)
    }
}

/// Draws the maze with its upper left corner at a place.
pub fn draw(
    out: &mut String,
    theme: &Theme,
    world: &GridWorld,
    agent: &AgentFrame,
    (left, top): (f64, f64),
    side: f64,
) {
    let grid = CellLayout { left, top, side, columns: world.n_columns(), span: agent.span() };
    let (width, height) = (side * world.n_columns() as f64, side * world.n_rows() as f64);
    rect(out, (left, top, width, height), 4.0, theme.color("floor"));
    for cell in 0..world.n_states() {
        draw_cell(out, theme, world, agent, &grid, cell);
    }
    let urgent = most_urgent(agent.priorities.iter().copied());
    for (rank, queued) in urgent.iter().take(N_GLOWING).enumerate() {
        glow(out, theme, grid.center(queued.cell as usize), side, 1.0 - 0.8 * rank as f64 / N_GLOWING as f64);
    }
    for cell in 0..world.n_states() {
        mark(out, theme, world.kind(State(cell as u32)), grid.center(cell), side);
    }
    trail(out, theme, agent, &grid);
    let (x, y) = grid.center(agent.position as usize);
    for (radius, fill) in [(0.36, theme.color("agent-edge")), (0.28, theme.color("agent"))] {
        let _ =
            writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{:.2}\" fill=\"{fill}\"/>", side * radius);
    }
}

fn draw_cell(
    out: &mut String,
    theme: &Theme,
    world: &GridWorld,
    agent: &AgentFrame,
    grid: &CellLayout,
    cell: usize,
) {
    let ((x, y), side) = (grid.corner(cell), grid.side);
    let kind = world.kind(State(cell as u32));
    if kind == CellKind::Wall {
        return rect(out, (x - 0.2, y - 0.2, side + 0.4, side + 0.4), 0.0, theme.color("wall"));
    }
    let is_known = agent.known[cell];
    let has_visits =
        agent.visits[MAX_ACTIONS * cell..MAX_ACTIONS * (cell + 1)].iter().any(|&visits| visits > 0);
    let back = match (is_known, has_visits) {
        (true, _) => color(agent.share(cell, grid.span)),
        (false, false) => theme.mixable("unknown"),
        (false, true) => theme.mixable("visited"),
    };
    let lit = mix(back, [255, 255, 255], (agent.changes[cell] * 2.0).clamp(0.0, 0.4));
    let gap = side * 0.035;
    rect(out, (x + gap, y + gap, side - 2.0 * gap, side - 2.0 * gap), side * 0.14, &hex(lit));
    let best = agent.best[cell];
    if kind == CellKind::Goal || !(is_known || best.count_ones() == 1) {
        return;
    }
    let (ink, opacity) = if is_dark(back) { ("#ffffff", 0.78) } else { ("#080c14", 0.72) };
    let opacity = if is_known { opacity } else { 0.25 };
    for (_, &(down, right)) in EIGHT_DIRECTIONS.iter().enumerate().filter(|(k, _)| best & (1 << k) != 0) {
        let length = f64::hypot(down as f64, right as f64);
        let direction = (right as f64 / length, down as f64 / length);
        arrow(out, grid.center(cell), side, direction, ink, opacity);
    }
}

fn arrow(
    out: &mut String,
    (x, y): (f64, f64),
    side: f64,
    (right, down): (f64, f64),
    ink: &str,
    opacity: f64,
) {
    let at = |along: f64, across: f64| {
        let (x, y) = (x + side * (along * right - across * down), y + side * (along * down + across * right));
        format!("{x:.2} {y:.2}")
    };
    let (tail, tip, one, other) = (at(-0.22, 0.0), at(0.22, 0.0), at(0.06, -0.16), at(0.06, 0.16));
    let _ = writeln!(
        out,
        "<path d=\"M{tail}L{tip}M{one}L{tip}L{other}\" fill=\"none\" stroke=\"{ink}\" stroke-opacity=\"{opacity}\" \
         stroke-width=\"{:.2}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>",
        side * 0.085
    );
}

/// An edge that shines, and light around it.
fn glow(out: &mut String, theme: &Theme, (x, y): (f64, f64), side: f64, opacity: f64) {
    let (reach, half, round, width) = (side * 0.95, side * 0.44, side * 0.16, side * 0.1);
    let (left, top, across) = (x - half, y - half, 2.0 * half);
    let _ = writeln!(
        out,
        "<g opacity=\"{opacity:.2}\"><circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{reach:.2}\" fill=\"url(#glow)\"/>\
         <rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{across:.2}\" height=\"{across:.2}\" rx=\"{round:.2}\" \
         fill=\"none\" stroke=\"{}\" stroke-width=\"{width:.2}\"/></g>",
        theme.glow()
    );
}

/// The special kind of a cell: a start, a goal, or a cell that ends the episode.
fn mark(out: &mut String, theme: &Theme, kind: CellKind, (x, y): (f64, f64), side: f64) {
    let mut ring = |radius: f64, width: f64, color: &str| {
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{:.2}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{:.2}\"/>",
            side * radius,
            side * width
        );
    };
    match kind {
        CellKind::Start => ring(0.3, 0.1, theme.color("text")),
        CellKind::Trap => ring(0.2, 0.2, theme.agent(1)),
        CellKind::Goal => star(out, (x, y), side * 0.46),
        CellKind::Wall | CellKind::Free => {}
    }
}

/// A star with five points.
fn star(out: &mut String, (x, y): (f64, f64), radius: f64) {
    let corner = |k: u8| {
        let radius = if k % 2 == 1 { radius * 0.45 } else { radius };
        let angle = f64::from(k) * std::f64::consts::PI / 5.0 - std::f64::consts::FRAC_PI_2;
        format!("{:.2},{:.2}", x + radius * angle.cos(), y + radius * angle.sin())
    };
    let corners: Vec<String> = (0..10).map(corner).collect();
    let _ = writeln!(
        out,
        "<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:.2}\" stroke-linejoin=\"round\"/>",
        corners.join(" "),
        hex(rgb(0xfde725)),
        hex(rgb(0x3c2800)),
        radius * 0.14
    );
}

fn trail(out: &mut String, theme: &Theme, agent: &AgentFrame, grid: &CellLayout) {
    for (k, pair) in agent.trail.windows(2).enumerate() {
        let ((x0, y0), (x1, y1)) = (grid.center(pair[0] as usize), grid.center(pair[1] as usize));
        // A jump is the start of a new episode.
        if (x0 - x1).abs() + (y0 - y1).abs() >= 6.0 * grid.side {
            continue;
        }
        let _ = writeln!(
            out,
            "<line x1=\"{x0:.2}\" y1=\"{y0:.2}\" x2=\"{x1:.2}\" y2=\"{y1:.2}\" stroke=\"{}\" stroke-opacity=\"{:.2}\" \
             stroke-width=\"{:.2}\" stroke-linecap=\"round\"/>",
            theme.color("agent"),
            0.55 * (k + 1) as f64 / agent.trail.len() as f64,
            grid.side * 0.12
        );
    }
}
