//! The page's picture without a browser: drawn as SVG, turned into a PNG by the laboratory's rasteriser.

mod chart;
mod maze;

use crate::engine::frame::{AgentFrame, Frame};
use crate::error::{Error, Result};
use crate::palette::{Color, color, rgb};
use backsweep_lab::figures::raster;
use backsweep_lab::figures::text::{FAMILY, escape};
use std::fmt::Write as _;

/// Pixels per unit of length. Cells and margins are chosen so that cells begin on whole pixels: equal cells are then equal
/// in the file.
const SCALE: f32 = 1.5;
const MARGIN: f64 = 20.0;
const HEADER: f64 = 54.0;
const PAD: f64 = 12.0;
const CAPTION: f64 = 30.0;
const FOOT: f64 = 52.0;
const CHARTS: f64 = 330.0;

/// The colors of a theme: the variables at the top of the page's style sheet.
struct Theme(&'static str);

impl Theme {
    fn new(light: bool) -> Self {
        let themes = include_str!("../assets/style.css").split(":root");
        Self(themes.skip(1).nth(usize::from(!light)).unwrap_or_default())
    }

    fn color(&self, name: &str) -> &'static str {
        let rest = self.0.split_once(&format!("--{name}: ")).map_or("", |(_, rest)| rest);
        rest.split(';').next().unwrap_or_default()
    }

    /// A color of the page that is mixed with others.
    fn mixable(&self, name: &str) -> Color {
        rgb(u32::from_str_radix(self.color(name).trim_start_matches('#'), 16).unwrap_or_default())
    }

    fn agent(&self, k: usize) -> &'static str {
        self.color(["one", "two"][k])
    }

    /// The page gives this color as three numbers.
    fn glow(&self) -> String {
        format!("rgb({})", self.color("glow").replace(' ', ","))
    }
}

/// The picture of a frame, as the bytes of a PNG file.
///
/// # Errors
/// If the frame's maze cannot be read or the picture would be too large.
pub fn png(frame: &Frame, light: bool) -> Result<Vec<u8>> {
    raster::png(&svg(frame, light)?, SCALE)
        .map_err(|error| Error::new(format!("the picture cannot be drawn: {error}; use a smaller maze")))
}

/// The picture of a frame, as an SVG document.
///
/// # Errors
/// If the frame's maze cannot be read.
pub fn svg(frame: &Frame, light: bool) -> Result<String> {
    let theme = Theme::new(light);
    let world = &*frame.world;
    let side = 2.0 * (312.0 / world.n_columns().max(world.n_rows()) as f64).clamp(3.0, 20.0).floor();
    let (width, height) = (side * world.n_columns() as f64, side * world.n_rows() as f64);
    let card = width.max(300.0) + 2.0 * PAD;
    let cards = (height + CAPTION + FOOT + PAD).max(420.0);
    let charts = MARGIN + frame.agents.len() as f64 * (card + PAD);
    let (full_width, full_height) = (charts + CHARTS + MARGIN, HEADER + cards + MARGIN);

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width}\" height=\"{full_height}\" \
         viewBox=\"0 0 {full_width} {full_height}\" font-family=\"{FAMILY}\">\n{}",
        definitions(&theme)
    );
    rect(&mut out, (0.0, 0.0, full_width, full_height), 0.0, theme.color("back"));
    header(&mut out, &theme, frame, full_width);
    for (k, agent) in frame.agents.iter().enumerate() {
        let left = MARGIN + k as f64 * (card + PAD);
        panel(&mut out, &theme, (left, HEADER, card, cards));
        rect(&mut out, (left + PAD, HEADER + 12.0, 10.0, 10.0), 3.0, theme.agent(k));
        let mut name = agent.planner.title().to_owned();
        name.get_mut(..1).map(str::make_ascii_uppercase);
        text(&mut out, (left + PAD + 17.0, HEADER + 22.0), &bold(14.5, theme.color("text")), &name);
        let corner = (left + (card - width) / 2.0, HEADER + CAPTION + 2.0);
        maze::draw(&mut out, &theme, world, agent, corner, side);
        numbers(&mut out, &theme, agent, (left + PAD, corner.1 + height + 20.0, card - 2.0 * PAD));
    }
    let each = (cards - PAD) / 2.0;
    let places = [(charts, HEADER, CHARTS, each), (charts, HEADER + each + PAD, CHARTS, each)];
    for (place, chart) in places.into_iter().zip([chart::returns(frame, &theme), chart::work(frame, &theme)])
    {
        panel(&mut out, &theme, place);
        chart::draw(&mut out, chart, place);
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// Shared definitions: the glow around an urgent cell, and the theme of the laboratory's charts.
fn definitions(theme: &Theme) -> String {
    let (edge, text, dim) = (theme.color("edge"), theme.color("text"), theme.color("dim"));
    let glow = theme.glow();
    let stop = |offset: f64, opacity: f64| {
        format!("<stop offset=\"{offset}\" stop-color=\"{glow}\" stop-opacity=\"{opacity}\"/>")
    };
    format!(
        "<style>.paper{{fill:none}}.ink{{fill:{text}}}.ink-line{{stroke:{text}}}.soft{{fill:{dim}}}\
         .grid{{stroke:{edge}}}.axis{{stroke:{dim}}}</style>\n\
         <defs><radialGradient id=\"glow\">{}{}{}</radialGradient></defs>\n",
        stop(0.0, 0.34),
        stop(0.5, 0.38),
        stop(1.0, 0.0)
    )
}

fn header(out: &mut String, theme: &Theme, frame: &Frame, width: f64) {
    for i in 0..9u8 {
        let (x, y) = (f64::from(i % 3), f64::from(i / 3));
        let fill = hex(color(0.15 + 0.85 * (x + y) / 4.0));
        rect(out, (MARGIN + 8.0 * x, 17.0 + 8.0 * y, 6.6, 6.6), 1.6, &fill);
    }
    text(out, (MARGIN + 34.0, 36.0), &bold(19.0, theme.color("text")), "Backsweep");
    text(out, (MARGIN + 152.0, 36.0), &plain(19.0, theme.color("dim")), "watch it think");
    let scene = &frame.scene;
    let settings = format!(
        "γ {} · {} · {} cycle{} per step · seed {}",
        scene.discount,
        frame.agents.first().map_or("", |agent| &agent.exploration).replace(", M", " · M"),
        scene.cycles,
        if scene.cycles == 1 { "" } else { "s" },
        scene.seed
    );
    let style = format!("{} text-anchor=\"end\"", plain(12.0, theme.color("dim")));
    text(out, (width - MARGIN, 35.0), &style, &settings);
}

fn numbers(out: &mut String, theme: &Theme, agent: &AgentFrame, (x, y, width): (f64, f64, f64)) {
    let number =
        |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}").replace('-', "−"));
    let work = agent.counters.additions as f64 / agent.steps.max(1) as f64;
    let all = [
        ("Episodes", grouped(agent.episodes)),
        ("Steps", grouped(agent.steps)),
        ("Last return", number(agent.last_return)),
        ("Mean return", number(agent.mean_return)),
        ("Additions/step", format!("{work:.1}")),
        ("Queued", grouped(agent.queue_length as u64)),
    ];
    for (k, (name, value)) in all.iter().enumerate() {
        let x = x + width * k as f64 / all.len() as f64;
        text(out, (x, y), &plain(10.5, theme.color("dim")), name);
        text(out, (x, y + 18.0), &bold(15.0, theme.color("text")), value);
    }
}

/// A number with separated thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A card with a thin edge.
fn panel(out: &mut String, theme: &Theme, (x, y, width, height): (f64, f64, f64, f64)) {
    rect(out, (x, y, width, height), 12.0, theme.color("edge"));
    rect(out, (x + 1.0, y + 1.0, width - 2.0, height - 2.0), 11.0, theme.color("card"));
}

fn hex([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A rectangle, perhaps with round corners.
fn rect(out: &mut String, (x, y, width, height): (f64, f64, f64, f64), round: f64, fill: &str) {
    let _ = writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" rx=\"{round:.2}\" fill=\"{fill}\"/>"
    );
}

fn plain(size: f64, fill: &str) -> String {
    format!("font-size=\"{size}\" fill=\"{fill}\"")
}

/// Bold without a bold font: the outline of each letter is drawn as well.
fn bold(size: f64, fill: &str) -> String {
    format!("{} stroke=\"{fill}\" stroke-width=\"{:.2}\"", plain(size, fill), size * 0.04)
}

fn text(out: &mut String, (x, y): (f64, f64), style: &str, content: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{}</text>", escape(content));
}
