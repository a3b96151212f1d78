//! The cells of a maze as characters, in the space that a terminal has.

use super::Colors;
use crate::engine::frame::AgentFrame;
use crate::palette::{Color, color, is_dark, rgb};
use backsweep::State;
use backsweep_worlds::CellKind;
use backsweep_worlds::grid_world::GridWorld;
use std::fmt::Write as _;
use std::ops::Range;

/// The directions of the compass, clockwise from north.
const ARROWS: [char; 8] = ['↑', '↗', '→', '↘', '↓', '↙', '←', '↖'];
/// The color of the agent where it has no symbol.
const AGENT: Color = [255, 255, 255];

/// Which cells are drawn, and how large.
pub(super) struct Cells<'a> {
    world: &'a GridWorld,
    colors: Colors,
    /// Columns per cell, 1 or 2.
    wide: bool,
    /// True if a line holds two rows, as the upper and lower halves of its characters.
    halves: bool,
    /// The rows and columns of cells for which there is room.
    n_rows: usize,
    n_columns: usize,
}

impl<'a> Cells<'a> {
    /// The best way to draw a maze in this many columns and lines.
    pub fn fit(world: &'a GridWorld, colors: Colors, (columns, lines): (usize, usize)) -> Self {
        let halves = world.n_rows() > lines && colors != Colors::None;
        let wide = !halves && 2 * world.n_columns() + 2 <= columns + 2;
        let room = columns.max(1) / if wide { 2 } else { 1 };
        let n_rows = world.n_rows().min(lines.max(1).saturating_mul(if halves { 2 } else { 1 }));
        Self { world, colors, wide, halves, n_rows, n_columns: world.n_columns().min(room) }
    }

    /// Returns the columns of text that a line of cells takes.
    pub fn width(&self) -> usize {
        self.n_columns * if self.wide { 2 } else { 1 }
    }

    /// Returns the lines of text that the cells take.
    pub fn n_lines(&self) -> usize {
        if self.halves { self.n_rows.div_ceil(2) } else { self.n_rows }
    }

    /// Draws a line, counted from the top of what is shown.
    pub fn draw_line(&self, text: &mut String, agent: &AgentFrame, span: (f64, f64), line: usize) {
        let all = self.world.n_columns();
        let (row, column) = (agent.position as usize / all, agent.position as usize % all);
        let rows = window(row, self.n_rows, self.world.n_rows());
        for column in window(column, self.n_columns, all) {
            let look = |row: usize| self.look(agent, row * all + column, span);
            if !self.halves {
                draw(text, look(rows.start + line), self.colors, self.wide);
                continue;
            }
            let upper = look(rows.start + 2 * line);
            let lower = rows.clone().nth(2 * line + 1).map_or(CellLook { sign: ' ', back: [0, 0, 0] }, look);
            draw_halves(text, upper, lower, self.colors);
        }
    }

    fn look(&self, agent: &AgentFrame, cell: usize, span: (f64, f64)) -> CellLook {
        look(agent, cell, self.world.kind(State(cell as u32)), span)
    }
}

/// This many of `all`, with the agent near the middle.
fn window(agent: usize, n: usize, all: usize) -> Range<usize> {
    let start = agent.saturating_sub(n / 2).min(all - n);
    start..start + n
}

/// The look of a cell: its symbol, and its color if it has one.
#[derive(Clone, Copy)]
struct CellLook {
    sign: char,
    back: Color,
}

fn look(agent: &AgentFrame, cell: usize, kind: CellKind, span: (f64, f64)) -> CellLook {
    if kind == CellKind::Wall {
        return CellLook { sign: '█', back: rgb(0x3a465c) };
    }
    let back = if agent.known[cell] { color(agent.share(cell, span)) } else { rgb(0x161c29) };
    let best = agent.best[cell];
    let sign = match kind {
        _ if agent.position as usize == cell => '●',
        CellKind::Goal => '★',
        CellKind::Trap => '✗',
        _ if best.count_ones() == 1 => ARROWS[best.trailing_zeros() as usize],
        CellKind::Start => 'S',
        _ => '·',
    };
    CellLook { sign, back }
}

fn draw(text: &mut String, CellLook { sign, back }: CellLook, colors: Colors, wide: bool) {
    if sign == '█' && colors == Colors::None {
        text.push_str(if wide { "██" } else { "█" });
        return;
    }
    let sign = if sign == '█' { ' ' } else { sign };
    let front = if sign == '●' || is_dark(back) { [255, 255, 255] } else { [0, 0, 0] };
    put(text, sign, if wide { " " } else { "" }, (front, back), colors);
}

/// Two cells in one character: the upper is its ink, the lower its ground. The agent keeps its symbol.
fn draw_halves(text: &mut String, upper: CellLook, lower: CellLook, colors: Colors) {
    let ink = |look: CellLook| match look.sign {
        '★' => rgb(0xffffff),
        '✗' => rgb(0xff5f5f),
        _ => look.back,
    };
    if upper.sign == '●' || lower.sign == '●' {
        return put(text, '●', "", (AGENT, if upper.sign == '●' { upper.back } else { lower.back }), colors);
    }
    put(text, '▀', "", (ink(upper), ink(lower)), colors);
}

fn put(text: &mut String, sign: char, space: &str, (front, back): (Color, Color), colors: Colors) {
    let _ = match colors {
        Colors::None => write!(text, "{sign}{space}"),
        Colors::Few => {
            write!(text, "\x1b[48;5;{};38;5;{}m{sign}{space}\x1b[0m", of_256(back), of_256(front))
        }
        Colors::All => {
            let ([r, g, b], [fr, fg, fb]) = (back, front);
            write!(text, "\x1b[48;2;{r};{g};{b};38;2;{fr};{fg};{fb}m{sign}{space}\x1b[0m")
        }
    };
}

/// The nearest of xterm's 6 × 6 × 6 colors.
fn of_256(color: Color) -> u8 {
    let [r, g, b] = color.map(|c| {
        if c < 48 {
            0
        } else if c < 115 {
            1
        } else {
            (c - 35) / 40
        }
    });
    16 + 36 * r + 6 * g + b
}
