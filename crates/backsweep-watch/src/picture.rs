//! The same picture as a PNG, drawn without a browser.

mod canvas;
mod chart;

use crate::engine::frame::{AgentFrame, Frame};
use crate::engine::learner::{best_actions, direction};
use crate::palette::{Colour, colour, mix, rgb};
use crate::terminal::span;
use crate::world::World;
use backsweep::{Action, State};
use backsweep_lab::{Kind, Result};
use canvas::{Align, Canvas, Weight};
use chart::Chart;

/// Pixels to one unit of length below.
/// Cells, margins and this are chosen so that cells begin on whole pixels: equal cells are then equal in the file.
const SCALE: f32 = 1.5;
/// How many of the most urgent states glow.
const N_GLOWING: usize = 20;
const MARGIN: f32 = 20.0;
const HEADER: f32 = 54.0;
const PAD: f32 = 12.0;
const CAPTION: f32 = 30.0;
const FOOT: f32 = 52.0;
const CHARTS: f32 = 330.0;

/// The colours of a theme.
pub(crate) struct Theme {
    back: Colour,
    card: Colour,
    edge: Colour,
    text: Colour,
    dim: Colour,
    wall: Colour,
    unknown: Colour,
    visited: Colour,
    floor: Colour,
    agents: [Colour; 2],
    glow: Colour,
    agent: Colour,
    agent_edge: Colour,
}

/// A theme by whether it is light; the same colours as on the page.
fn theme(light: bool) -> Theme {
    let [back, card, edge, text, dim, wall, unknown, visited, floor, one, two, glow, agent, agent_edge] =
        if light {
            [
                0xf3f5f9, 0xffffff, 0xdde2eb, 0x161b26, 0x5d6779, 0xb9c1cf, 0xe4e8ef, 0xd8deea, 0xeef1f6,
                0x0f8a83, 0xd4570f, 0xe05210, 0x10151f, 0xffffff,
            ]
        } else {
            [
                0x0a0d13, 0x121722, 0x222a39, 0xe9edf5, 0x929db1, 0x2b3446, 0x161c29, 0x1d2535, 0x0e131c,
                0x35d0c4, 0xff9d5c, 0xff8a3c, 0xffffff, 0x0a0d13,
            ]
        }
        .map(rgb);
    let agents = [one, two];
    Theme { back, card, edge, text, dim, wall, unknown, visited, floor, agents, glow, agent, agent_edge }
}

/// The picture of a frame, as the bytes of a PNG file.
///
/// # Errors
/// If the frame's maze cannot be read or the picture would be too large.
pub fn png(frame: &Frame, light: bool) -> Result<Vec<u8>> {
    let theme = theme(light);
    let world = World::new(&frame.scene)?;
    let n = frame.agents.len() as f32;
    let side = 2.0 * (312.0 / world.n_columns().max(world.n_rows()) as f32).clamp(3.0, 20.0).floor();
    let maze = (side * world.n_columns() as f32, side * world.n_rows() as f32);
    let card = (maze.0.max(300.0) + 2.0 * PAD, maze.1 + CAPTION + FOOT + PAD);
    let height = card.1.max(420.0);
    let total = (MARGIN + n * (card.0 + PAD) + CHARTS + MARGIN, HEADER + height + MARGIN);
    let mut canvas = Canvas::new(total, SCALE)?;
    canvas.fill(theme.back);
    header(&mut canvas, &theme, frame, total.0);
    for (k, agent) in frame.agents.iter().enumerate() {
        let left = MARGIN + k as f32 * (card.0 + PAD);
        panel(&mut canvas, &theme, (left, HEADER, card.0, height));
        let title = agent.planner.title();
        canvas.round((left + PAD, HEADER + 12.0, 10.0, 10.0), 3.0, theme.agents[k], 1.0);
        let mut name = title.to_owned();
        name.get_mut(..1).map(str::make_ascii_uppercase);
        canvas.text(left + PAD + 17.0, HEADER + 22.0, &name, 15.0, Weight::Bold, Align::Left, theme.text);
        let corner = (left + (card.0 - maze.0) / 2.0, HEADER + CAPTION + 2.0);
        draw_maze(&mut canvas, &theme, &world, agent, corner, side);
        numbers(&mut canvas, &theme, agent, (left + PAD, corner.1 + maze.1 + 20.0, card.0 - 2.0 * PAD));
    }
    let left = MARGIN + n * (card.0 + PAD);
    let each = (height - PAD) / 2.0;
    let returns: Vec<_> = frame.agents.iter().map(|agent| &agent.returns).collect();
    let work: Vec<_> = frame.agents.iter().map(|agent| &agent.backups).collect();
    Chart {
        title: "Return per episode",
        unit: "episodes",
        curves: returns,
        line: frame.optimum,
        from_zero: false,
    }
    .draw(&mut canvas, &theme, (left, HEADER, CHARTS, each));
    Chart { title: "Backups per step", unit: "steps", curves: work, line: None, from_zero: true }.draw(
        &mut canvas,
        &theme,
        (left, HEADER + each + PAD, CHARTS, each),
    );
    canvas.png()
}

fn header(canvas: &mut Canvas, theme: &Theme, frame: &Frame, width: f32) {
    for i in 0..9u8 {
        let (x, y) = (f32::from(i % 3), f32::from(i / 3));
        let place = f64::from(i % 3 + i / 3) / 4.0;
        canvas.round((MARGIN + 8.0 * x, 17.0 + 8.0 * y, 6.6, 6.6), 1.6, colour(0.15 + 0.85 * place), 1.0);
    }
    canvas.text(MARGIN + 34.0, 36.0, "Backsweep", 20.0, Weight::Bold, Align::Left, theme.text);
    canvas.text(MARGIN + 142.0, 36.0, "watch it think", 20.0, Weight::Regular, Align::Left, theme.dim);
    let scene = &frame.scene;
    let settings = format!(
        "γ {} · ε {} · M {} · {} cycle{} a step · seed {}",
        scene.discount,
        scene.epsilon,
        scene.min_visits,
        scene.cycles,
        if scene.cycles == 1 { "" } else { "s" },
        scene.seed
    );
    canvas.text(width - MARGIN, 35.0, &settings, 13.0, Weight::Regular, Align::Right, theme.dim);
}

/// A card with a thin edge.
pub(crate) fn panel(canvas: &mut Canvas, theme: &Theme, (x, y, width, height): (f32, f32, f32, f32)) {
    canvas.round((x, y, width, height), 12.0, theme.edge, 1.0);
    canvas.round((x + 1.0, y + 1.0, width - 2.0, height - 2.0), 11.0, theme.card, 1.0);
}

fn numbers(canvas: &mut Canvas, theme: &Theme, agent: &AgentFrame, (x, y, width): (f32, f32, f32)) {
    let number = |value: Option<f64>| value.map_or("–".into(), |value| minus(&format!("{value:.1}")));
    let backups = agent.counters.backups() as f64 / agent.steps.max(1) as f64;
    let all = [
        ("Episodes", grouped(agent.episodes)),
        ("Steps", grouped(agent.steps)),
        ("Last return", number(agent.last_return)),
        ("Mean return", number(agent.mean_return)),
        ("Backups a step", format!("{backups:.1}")),
        ("On the queue", grouped(agent.queue_length as u64)),
    ];
    for (k, (name, value)) in all.iter().enumerate() {
        let x = x + width * k as f32 / all.len() as f32;
        canvas.text(x, y, name, 11.5, Weight::Regular, Align::Left, theme.dim);
        canvas.text(x, y + 18.0, value, 16.0, Weight::Bold, Align::Left, theme.text);
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A minus sign in place of the hyphen.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

fn draw_maze(
    canvas: &mut Canvas,
    theme: &Theme,
    world: &World,
    agent: &AgentFrame,
    corner: (f32, f32),
    side: f32,
) {
    let (rows, columns) = (world.n_rows(), world.n_columns());
    let place =
        |cell: usize| (corner.0 + side * (cell % columns) as f32, corner.1 + side * (cell / columns) as f32);
    canvas.round((corner.0, corner.1, side * columns as f32, side * rows as f32), 4.0, theme.floor, 1.0);
    let (low, high) = span(agent);
    let gap = side * 0.035;
    for cell in 0..rows * columns {
        let (x, y) = place(cell);
        let kind = world.kind(State(cell as u32));
        if kind == Kind::Wall {
            canvas.round((x - 0.2, y - 0.2, side + 0.4, side + 0.4), 0.0, theme.wall, 1.0);
            continue;
        }
        let visits: u64 = agent.visits[4 * cell..4 * cell + 4].iter().sum();
        let mut back = match (agent.known[cell], visits) {
            (true, _) => colour((agent.values[cell] - low) / if high > low { high - low } else { 1.0 }),
            (false, 0) => theme.unknown,
            (false, _) => theme.visited,
        };
        let is_dark =
            0.299 * f64::from(back[0]) + 0.587 * f64::from(back[1]) + 0.114 * f64::from(back[2]) < 128.0;
        back = mix(back, [255, 255, 255], (agent.changes[cell] * 2.0).clamp(0.0, 0.4));
        canvas.round((x + gap, y + gap, side - 2.0 * gap, side - 2.0 * gap), side * 0.14, back, 1.0);
        let best = best_actions(&agent.q[4 * cell..4 * cell + 4]);
        let is_sure = agent.known[cell] || best.count_ones() == 1;
        if kind != Kind::Goal && is_sure {
            let (ink, strength) = if is_dark { ([255, 255, 255], 0.78) } else { ([8, 12, 20], 0.72) };
            let strength = if agent.known[cell] { strength } else { 0.25 };
            for action in (0..4).filter(|action| best & (1 << action) != 0) {
                arrow(canvas, (x + side / 2.0, y + side / 2.0), side, Action(action), ink, strength);
            }
        }
    }
    let mut urgent: Vec<usize> = (0..rows * columns).filter(|&cell| agent.priorities[cell] > 0.0).collect();
    urgent.sort_by(|&a, &b| agent.priorities[b].total_cmp(&agent.priorities[a]));
    for (rank, &cell) in urgent.iter().take(N_GLOWING).enumerate() {
        let (x, y) = place(cell);
        let strength = 1.0 - 0.8 * rank as f32 / N_GLOWING as f32;
        canvas.glow((x + side / 2.0, y + side / 2.0), side, theme.glow, strength);
    }
    marks(canvas, theme, world, agent, &place, side);
}

fn marks(
    canvas: &mut Canvas,
    theme: &Theme,
    world: &World,
    agent: &AgentFrame,
    place: &dyn Fn(usize) -> (f32, f32),
    side: f32,
) {
    let centre = |cell: usize| {
        let (x, y) = place(cell);
        (x + side / 2.0, y + side / 2.0)
    };
    for cell in 0..world.n_rows() * world.n_columns() {
        match world.kind(State(cell as u32)) {
            Kind::Start => canvas.ring(centre(cell), side * 0.3, side * 0.1, theme.text),
            Kind::Goal => canvas.star(centre(cell), side * 0.46, rgb(0xfde725), rgb(0x3c2800)),
            Kind::Trap => canvas.ring(centre(cell), side * 0.2, side * 0.2, theme.agents[1]),
            Kind::Wall | Kind::Free => {}
        }
    }
    let steps = agent.trail.windows(2).enumerate();
    for (k, pair) in steps {
        let (from, to) = (centre(pair[0] as usize), centre(pair[1] as usize));
        // A jump is the start of a new episode.
        if (from.0 - to.0).abs() + (from.1 - to.1).abs() < 6.0 * side {
            let strength = 0.55 * (k + 1) as f32 / agent.trail.len() as f32;
            canvas.line(&[from, to], side * 0.12, theme.agent, strength);
        }
    }
    let here = centre(agent.position as usize);
    canvas.disc(here, side * 0.36, theme.agent_edge);
    canvas.disc(here, side * 0.28, theme.agent);
}

fn arrow(canvas: &mut Canvas, (x, y): (f32, f32), side: f32, action: Action, ink: Colour, strength: f32) {
    let (down, right) = direction(action);
    let (down, right) = (down as f32, right as f32);
    let at = |along: f32, across: f32| {
        (x + side * (along * right - across * down), y + side * (along * down + across * right))
    };
    canvas.line(&[at(-0.22, 0.0), at(0.22, 0.0)], side * 0.085, ink, strength);
    canvas.line(&[at(0.06, -0.16), at(0.22, 0.0), at(0.06, 0.16)], side * 0.085, ink, strength);
}
