//! A [`Chart`] as SVG. Colors that depend on the paper carry a class (`ink`, `soft`, `grid`, `paper`), so that a
//! page can restyle them for dark mode; on its own, the file is drawn on white.

use super::chart::{Chart, INK, LineStyle, Mark, Panel, Point, Series, SeriesShape};
use super::scale::{Scale, breadths, heights};
use super::text::{FAMILY, escape, width};
use crate::number::number;
use std::fmt::Write;

const SOFT: &str = "#57606a";
const GRID: &str = "#dde1e6";
const PAPER: &str = "#ffffff";
const LEFT: f64 = 68.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 54.0;
const TITLE_HEIGHT: f64 = 40.0;
const LEGEND_ROW: f64 = 24.0;
const LEGEND_SIGN: f64 = 34.0;
const TEXT: f64 = 13.0;
const MARK: f64 = 4.6;

/// The whole picture as one SVG document.
pub fn svg(chart: &Chart) -> String {
    let columns = chart.columns.clamp(1, chart.panels.len().max(1));
    let rows = chart.panels.len().div_ceil(columns);
    let full_width = columns as f64 * chart.panel_width + 8.0;
    let legend = legend_rows(chart, full_width - 32.0);
    let legend_top = TITLE_HEIGHT + rows as f64 * chart.panel_height;
    let full_height = legend_top + legend.len() as f64 * LEGEND_ROW + 14.0;

    let mut body = String::new();
    fitted(&mut body, (full_width / 2.0, 26.0), 16.0, &chart.title, full_width - 16.0);
    for (index, panel) in chart.panels.iter().enumerate() {
        let left = (index % columns) as f64 * chart.panel_width;
        let top = TITLE_HEIGHT + (index / columns) as f64 * chart.panel_height;
        draw_panel(&mut body, chart, index, panel, (left, top));
    }
    for (row, entries) in legend.iter().enumerate() {
        let used: f64 = entries.iter().map(|series| entry_width(series)).sum();
        let mut x = (full_width - used) / 2.0;
        let y = legend_top + row as f64 * LEGEND_ROW + 12.0;
        for series in entries {
            draw_entry(&mut body, series, x, y);
            x += entry_width(series);
        }
    }
    document(&chart.id, &chart.title, (full_width, full_height), &body)
}

/// An SVG document of the given size with `body` on white paper.
pub fn document(id: &str, title: &str, (full_width, full_height): (f64, f64), body: &str) -> String {
    let (id, title) = (escape(id), escape(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full_width:.0} {full_height:.0}\" \
         width=\"{full_width:.0}\" height=\"{full_height:.0}\" font-family=\"{FAMILY}\" role=\"img\" \
         aria-labelledby=\"{id}-title\">\n<title id=\"{id}-title\">{title}</title>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n{body}</svg>\n"
    )
}

/// A line of text; `class` is `ink` or `soft`.
pub fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, size: f64, class: &str, content: &str) {
    let fill = if class == "soft" { SOFT } else { INK };
    let content = escape(content);
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{fill}\">{content}</text>"
    );
}

/// A centered line of text, made smaller and, if need be, shortened until it fits into `room`.
fn fitted(out: &mut String, middle: (f64, f64), size: f64, content: &str, room: f64) {
    let size = (size * room / width(content, size).max(1.0)).clamp(size * 0.7, size);
    let size = (size * 10.0).floor() / 10.0;
    let mut shown = content.to_string();
    while width(&shown, size) > room && shown.chars().count() > 2 {
        let kept = shown.chars().count() - 2;
        shown = shown.chars().take(kept).chain(['…']).collect();
    }
    text(out, middle, "middle", size, "ink", &shown);
}

fn draw_panel(out: &mut String, chart: &Chart, index: usize, panel: &Panel, (left, top): (f64, f64)) {
    let ends = panel.series.iter().filter_map(|series| series.end.as_deref());
    let room_for_ends = ends.map(|end| width(end, 12.0) + 8.0).fold(0.0, f64::max);
    let (x0, x1) = (left + LEFT, left + chart.panel_width - RIGHT - room_for_ends);
    let (y0, y1) = (top + chart.panel_height - BOTTOM, top + TOP);
    let x_scale = Scale::fit(&panel.x, breadths(panel), (x0, x1), ((x1 - x0) / 60.0) as usize);
    let y_scale = Scale::fit(&panel.y, heights(panel), (y0, y1), ((y0 - y1) / 42.0) as usize);

    fitted(out, ((x0 + x1) / 2.0, y1 - 12.0), 14.0, &panel.title, chart.panel_width - LEFT);
    for tick in &y_scale.ticks {
        let y = y_scale.pixel(*tick);
        stroke(out, (x0, y), (x1, y), "grid", GRID);
        text(out, (x0 - 7.0, y + 4.4), "end", 12.0, "soft", &y_scale.label(*tick));
    }
    // Labels of a logarithmic axis crowd towards the end of a decade: one that would touch the previous one is omitted.
    let mut free_from = f64::NEG_INFINITY;
    for tick in &x_scale.ticks {
        let x = x_scale.pixel(*tick);
        stroke(out, (x, y0), (x, y1), "grid", GRID);
        let label = x_scale.label(*tick);
        let half = width(&label, 12.0) / 2.0;
        if x - half > free_from {
            text(out, (x, y0 + 17.0), "middle", 12.0, "soft", &label);
            free_from = x + half + 5.0;
        }
    }
    stroke(out, (x0, y0), (x1, y0), "axis", SOFT);
    stroke(out, (x0, y0), (x0, y1), "axis", SOFT);
    fitted(out, ((x0 + x1) / 2.0, y0 + 38.0), TEXT, &panel.x.label, chart.panel_width - LEFT);
    let (label_x, label_y) = (left + 17.0, (y0 + y1) / 2.0);
    let label = escape(&panel.y.label);
    let _ = writeln!(
        out,
        "<text class=\"ink\" transform=\"translate({label_x:.1} {label_y:.1}) rotate(-90)\" text-anchor=\"middle\" font-size=\"{TEXT}\" fill=\"{INK}\">{label}</text>"
    );
    if panel.series.iter().all(|series| series.points().is_empty()) {
        text(out, ((x0 + x1) / 2.0, label_y), "middle", TEXT, "soft", "not measured");
        return;
    }
    let clip = format!("{}-clip-{index}", escape(&chart.id));
    let (clip_width, clip_height) = (x1 - x0 + 1.0, y0 - y1 + 1.0);
    let _ = writeln!(
        out,
        "<clipPath id=\"{clip}\"><rect x=\"{x0:.1}\" y=\"{y1:.1}\" width=\"{clip_width:.1}\" height=\"{clip_height:.1}\"/></clipPath>\n<g clip-path=\"url(#{clip})\">"
    );
    for series in &panel.series {
        draw_series(out, series, panel, &x_scale, &y_scale, (x0, x1));
    }
    let _ = writeln!(out, "</g>");
    draw_ends(out, panel, &y_scale, x1 + 7.0);
}

/// The texts next to the last points, moved apart where they would touch.
fn draw_ends(out: &mut String, panel: &Panel, ys: &Scale, x: f64) {
    const APART: f64 = 14.0;
    let ended = panel
        .series
        .iter()
        .filter_map(|series| Some((series, series.end.as_deref()?, series.points().last()?)));
    let mut ends: Vec<(f64, &Series, &str)> =
        ended.map(|(series, end, point)| (ys.pixel(point.y), series, end)).collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    for index in 1..ends.len() {
        ends[index].0 = ends[index].0.max(ends[index - 1].0 + APART);
    }
    for (y, series, end) in ends {
        let (class, color) = area(series);
        let (base, end) = (y + 4.0, escape(end));
        let _ = writeln!(
            out,
            "<text{class} x=\"{x:.1}\" y=\"{base:.1}\" font-size=\"12\" fill=\"{color}\">{end}</text>"
        );
    }
}

fn draw_series(
    out: &mut String,
    series: &Series,
    panel: &Panel,
    xs: &Scale,
    ys: &Scale,
    (x0, x1): (f64, f64),
) {
    let (class, color) = area(series);
    let points = series.points();
    match series.shape {
        SeriesShape::Band => {
            let above = points.iter().map(|point| (xs.pixel(point.x), ys.pixel(point.high)));
            let below = points.iter().rev().map(|point| (xs.pixel(point.x), ys.pixel(point.low)));
            let corners: Vec<String> = above.chain(below).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                out,
                "<polygon{class} points=\"{}\" fill=\"{color}\" fill-opacity=\"0.2\" stroke=\"none\"/>",
                corners.join(" ")
            );
        }
        SeriesShape::Level => {
            let Some(point) = points.first() else { return };
            let (y, high, low) = (ys.pixel(point.y), ys.pixel(point.high), ys.pixel(point.low));
            let (span, depth) = (x1 - x0, (low - high).abs());
            let _ = writeln!(
                out,
                "<rect{class} x=\"{x0:.1}\" y=\"{high:.1}\" width=\"{span:.1}\" height=\"{depth:.1}\" fill=\"{color}\" fill-opacity=\"0.12\"/>"
            );
            line(out, series, &[(x0, y), (x1, y)]);
        }
        SeriesShape::Curve => {
            let places: Vec<(f64, f64)> =
                points.iter().map(|point| (xs.pixel(point.x), ys.pixel(point.y))).collect();
            line(out, series, &places);
            for point in points.iter().filter(|point| point.high > point.low) {
                error_bar(out, series, xs.pixel(point.x), ys.pixel(point.low), ys.pixel(point.high));
            }
            if let Some(sign) = series.mark {
                for (point, place) in points.iter().zip(&places).filter(|(point, _)| ys.shows(point.y)) {
                    mark(out, sign, series, *place, Some(&hint(series, panel, point)));
                }
            }
        }
    }
}

/// The tooltip of a mark.
fn hint(series: &Series, panel: &Panel, point: &Point) -> String {
    let error = (point.high - point.low) / 2.0;
    let spread = if error > 0.0 { format!(" ± {}", number(error, 3)) } else { String::new() };
    let name = if series.name.is_empty() { &series.label } else { &series.name };
    // Points are shifted a little, so that error bars do not overlap; they belong to the tick.
    let ticks = panel.x.ticks.iter().flatten().copied();
    let x = ticks.into_iter().find(|tick| (tick / point.x - 1.0).abs() < 0.1).unwrap_or(point.x);
    format!("{name}: {}{spread} at {} {}", number(point.y, 3), panel.x.label, number(x, 2))
}

fn line(out: &mut String, series: &Series, places: &[(f64, f64)]) {
    let Some(kind) = series.line else { return };
    if places.len() < 2 {
        return;
    }
    let (class, color) = stroke_of(series);
    let dash = match kind {
        LineStyle::Solid => "",
        LineStyle::Dashed => " stroke-dasharray=\"6 4\"",
        LineStyle::Dotted => " stroke-dasharray=\"1.5 3.5\" stroke-linecap=\"round\"",
    };
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        out,
        "<polyline{class} points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dash}/>",
        path.join(" ")
    );
}

fn error_bar(out: &mut String, series: &Series, x: f64, low: f64, high: f64) {
    let (class, color) = stroke_of(series);
    let (left, right) = (x - 3.5, x + 3.5);
    let _ = writeln!(
        out,
        "<path{class} d=\"M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}H{right:.1}M{left:.1} {high:.1}H{right:.1}\" stroke=\"{color}\" stroke-width=\"1.4\" fill=\"none\"/>"
    );
}

fn mark(out: &mut String, sign: Mark, series: &Series, (x, y): (f64, f64), hint: Option<&str>) {
    // A hollow mark is a little larger, so that a filled one on the same spot does not hide it.
    let r = if series.hollow { MARK + 1.6 } else { MARK };
    let (class, look) = if series.hollow {
        let (class, color) = stroke_of(series);
        (class, format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\""))
    } else {
        let (class, color) = area(series);
        (class, format!("fill=\"{color}\""))
    };
    let hint = hint.map(|hint| format!("<title>{}</title>", escape(hint))).unwrap_or_default();
    let shape = match sign {
        Mark::Circle => {
            let _ = writeln!(
                out,
                "<circle{class} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" {look}>{hint}</circle>"
            );
            return;
        }
        Mark::Square => [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)].to_vec(),
        Mark::Diamond => [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)].to_vec(),
        Mark::Triangle => [(0.0, -1.2), (1.1, 0.85), (-1.1, 0.85)].to_vec(),
        Mark::TriangleDown => [(0.0, 1.2), (1.1, -0.85), (-1.1, -0.85)].to_vec(),
    };
    let corners: Vec<String> =
        shape.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * r, y + dy * r)).collect();
    let _ = writeln!(out, "<polygon{class} points=\"{}\" {look}>{hint}</polygon>", corners.join(" "));
}

/// A straight line: part of the grid or an axis.
fn stroke(out: &mut String, (x0, y0): (f64, f64), (x1, y1): (f64, f64), class: &str, color: &str) {
    let _ = writeln!(
        out,
        "<line class=\"{class}\" x1=\"{x0:.1}\" y1=\"{y0:.1}\" x2=\"{x1:.1}\" y2=\"{y1:.1}\" stroke=\"{color}\" stroke-width=\"1\"/>"
    );
}

/// The class and the color of an area.
fn area(series: &Series) -> (&'static str, &'static str) {
    (if series.color == INK { " class=\"ink\"" } else { "" }, series.color)
}

/// The class and the color of a stroke.
fn stroke_of(series: &Series) -> (&'static str, &'static str) {
    (if series.color == INK { " class=\"ink-line\"" } else { "" }, series.color)
}

/// The legend's entries, one per label, broken into rows that fit.
fn legend_rows(chart: &Chart, room: f64) -> Vec<Vec<&Series>> {
    let mut entries: Vec<&Series> = Vec::new();
    let drawn =
        chart.panels.iter().flat_map(|panel| &panel.series).filter(|series| !series.points().is_empty());
    for series in drawn.chain(&chart.keys) {
        let known = entries.iter().any(|entry| entry.label == series.label);
        if !known && !series.label.is_empty() {
            entries.push(series);
        }
    }
    let mut rows: Vec<Vec<&Series>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        let needed = entry_width(entry);
        if used + needed > room {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += needed;
        if let Some(row) = rows.last_mut() {
            row.push(entry);
        }
    }
    rows
}

fn entry_width(series: &Series) -> f64 {
    LEGEND_SIGN + width(&series.label, TEXT) + 22.0
}

fn draw_entry(out: &mut String, series: &Series, x: f64, y: f64) {
    let (from, to) = (x, x + LEGEND_SIGN - 8.0);
    if series.shape == SeriesShape::Band {
        let (class, color) = area(series);
        let (top, span) = (y - 6.0, to - from);
        let _ = writeln!(
            out,
            "<rect{class} x=\"{from:.1}\" y=\"{top:.1}\" width=\"{span:.1}\" height=\"12\" fill=\"{color}\" fill-opacity=\"0.25\"/>"
        );
    }
    line(out, series, &[(from, y), (to, y)]);
    if let Some(sign) = series.mark {
        mark(out, sign, series, ((from + to) / 2.0, y), None);
    }
    text(out, (x + LEGEND_SIGN, y + 4.6), "start", TEXT, "ink", &series.label);
}
