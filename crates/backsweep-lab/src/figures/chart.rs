//! A picture as plain data: panels, axes and series. [`super::draw`] turns it into SVG.
//!
//! Every series is kept finite: a point with a coordinate that is not finite is dropped on entry, so that no
//! picture can contain a `NaN`.

use crate::result::Summary;

/// A picture: panels in rows, one legend below all of them.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Short name; prefix of the element ids, so that many pictures can share a page.
    pub id: String,
    /// The line above the panels.
    pub title: String,
    /// Panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels in a row.
    pub columns: usize,
    /// Width of a panel in pixels, with its axes.
    pub panel_width: f64,
    /// Height of a panel in pixels, with its axes.
    pub panel_height: f64,
    /// Extra entries of the legend, such as the meaning of a hollow mark.
    pub keys: Vec<Series>,
}

/// One pair of axes with the series drawn between them.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The line above the axes.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; later ones lie on top.
    pub series: Vec<Series>,
}

/// An axis: what it measures, with the unit, and how values are laid out.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity and its unit.
    pub label: String,
    /// True if equal distances mean equal ratios.
    pub log: bool,
    /// First and last value, or `None` to fit the data.
    pub range: Option<(f64, f64)>,
    /// Where to put ticks, or `None` for round numbers.
    pub ticks: Option<Vec<f64>>,
}

/// One entry of the legend and everything it draws in a panel.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend; series with the same name share an entry.
    pub label: String,
    /// Its color.
    pub color: &'static str,
    /// The line that joins the points, if any.
    pub line: Option<LineStyle>,
    /// The marker drawn at each point, if any.
    pub mark: Option<Mark>,
    /// True if the marker is hollow: used for published numbers.
    pub hollow: bool,
    /// The name in tooltips; the label if it is empty.
    pub name: String,
    /// The points.
    pub shape: SeriesShape,
    /// A short text next to the last point, outside the axes.
    pub end: Option<String>,
    /// The points, all finite.
    points: Vec<Point>,
}

/// The marker of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesShape {
    /// Points with error bars, joined by a line.
    Curve,
    /// The area between the low and the high ends.
    Band,
    /// One value that does not depend on x: a line through the whole panel.
    Level,
}

/// A value with its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Lower end of the error bar or band.
    pub low: f64,
    /// Upper end of the error bar or band.
    pub high: f64,
}

/// The color of the text: black on a light background, near white on a dark one. Other colors are readable on both.
pub const INK: &str = "#1b1f24";

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// Solid.
    Solid,
    /// Dashed.
    Dashed,
    /// Dotted.
    Dotted,
}

/// The marker of a point. Methods differ in it as well as in color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A triangle that points down.
    TriangleDown,
    /// A diamond.
    Diamond,
}

impl Chart {
    /// A picture of panels in rows of `columns`.
    pub fn new(id: &str, title: impl Into<String>, columns: usize, panels: Vec<Panel>) -> Self {
        let panel_width = match columns {
            1 => 640.0,
            2 => 480.0,
            _ => 370.0,
        };
        let (id, title) = (id.to_string(), title.into());
        Chart { id, title, panels, columns, panel_width, panel_height: 320.0, keys: Vec::new() }
    }
}

impl Point {
    /// A value without an error bar.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, low: y, high: y }
    }

    /// The mean of a setting at `x`, with its 95 % interval.
    pub fn of_summary(x: f64, summary: &Summary) -> Self {
        // The interval of a single run is the run itself; bounds that are not finite are treated likewise.
        let bound = |value: f64| if value.is_finite() { value } else { summary.mean };
        Point { x, y: summary.mean, low: bound(summary.low), high: bound(summary.high) }
    }

    fn is_finite(&self) -> bool {
        [self.x, self.y, self.low, self.high].iter().all(|value| value.is_finite())
    }
}

impl Axis {
    /// An axis that fits the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis { label: label.into(), log: false, range: None, ticks: None }
    }

    /// A logarithmic axis that fits the data.
    pub fn log(label: impl Into<String>) -> Self {
        Axis { log: true, ..Axis::linear(label) }
    }

    /// The same axis from `first` to `last`.
    pub fn between(mut self, first: f64, last: f64) -> Self {
        self.range = Some((first, last));
        self
    }

    /// The same axis with ticks at `ticks` only.
    pub fn ticked(mut self, ticks: &[f64]) -> Self {
        self.ticks = Some(ticks.to_vec());
        self
    }
}

impl Series {
    fn new(label: impl Into<String>, color: &'static str, shape: SeriesShape, points: Vec<Point>) -> Self {
        let points = points.into_iter().filter(Point::is_finite).collect();
        let (label, name) = (label.into(), String::new());
        Series { label, color, line: None, mark: None, hollow: false, name, shape, end: None, points }
    }

    /// Points joined by a line.
    pub fn curve(label: impl Into<String>, color: &'static str, line: LineStyle, points: Vec<Point>) -> Self {
        Series { line: Some(line), ..Series::new(label, color, SeriesShape::Curve, points) }
    }

    /// Points alone.
    pub fn marks(label: impl Into<String>, color: &'static str, mark: Mark, points: Vec<Point>) -> Self {
        Series { mark: Some(mark), ..Series::new(label, color, SeriesShape::Curve, points) }
    }

    /// The area between the low and high ends of the points.
    pub fn band(label: impl Into<String>, color: &'static str, points: Vec<Point>) -> Self {
        Series::new(label, color, SeriesShape::Band, points)
    }

    /// A line through the whole panel at `point.y`; its error is a faint band around it.
    pub fn level(label: impl Into<String>, color: &'static str, line: LineStyle, point: Point) -> Self {
        Series { line: Some(line), ..Series::new(label, color, SeriesShape::Level, vec![point]) }
    }

    /// The same series with a marker at each point.
    pub fn marked(mut self, mark: Mark) -> Self {
        self.mark = Some(mark);
        self
    }

    /// The same series with hollow markers: the way published numbers are drawn.
    pub fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    /// The points, all finite.
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}
