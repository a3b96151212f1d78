//! A few shapes and text on a pixmap. Lengths are in units that the scale turns into pixels.

use crate::palette::Colour;
use backsweep_lab::{Error, Result};
use tiny_skia::{
    Color, FillRule, GradientStop, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Point,
    RadialGradient, Rect, SpreadMode, Stroke, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

/// Roboto (Google, Apache License 2.0), cut down to the signs that are used.
const REGULAR: &[u8] = include_bytes!("../../fonts/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/Roboto-Bold.ttf");

/// How heavy text is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// Which end of a text lies at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
    Centre,
}

/// Something to draw on.
pub struct Canvas {
    pixmap: Pixmap,
    scale: Transform,
    fonts: [Face<'static>; 2],
}

fn paint(colour: Colour, strength: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(of(colour, strength));
    paint
}

fn of([r, g, b]: Colour, strength: f32) -> Color {
    let mut colour = Color::from_rgba8(r, g, b, 255);
    colour.set_alpha(strength.clamp(0.0, 1.0));
    colour
}

impl Canvas {
    /// An empty canvas of this width and height.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn new((width, height): (f32, f32), scale: f32) -> Result<Self> {
        let pixmap = Pixmap::new((width * scale) as u32, (height * scale) as u32)
            .ok_or_else(|| Error::new(format!("a picture of {width} by {height} is too large")))?;
        let font = |bytes| Face::parse(bytes, 0).map_err(|error| Error::new(format!("the font: {error}")));
        let fonts = [font(REGULAR)?, font(BOLD)?];
        Ok(Self { pixmap, scale: Transform::from_scale(scale, scale), fonts })
    }

    /// Everything in one colour.
    pub fn fill(&mut self, colour: Colour) {
        self.pixmap.fill(of(colour, 1.0));
    }

    fn fill_path(&mut self, path: Option<Path>, paint: &Paint) {
        // A shape without extent has no path and nothing to show.
        if let Some(path) = path {
            self.pixmap.fill_path(&path, paint, FillRule::Winding, self.scale, None);
        }
    }

    /// A rectangle with round corners.
    pub fn round(
        &mut self,
        (x, y, width, height): (f32, f32, f32, f32),
        r: f32,
        colour: Colour,
        strength: f32,
    ) {
        self.fill_path(rounded(x, y, width, height, r), &paint(colour, strength));
    }

    /// A line through points.
    pub fn line(&mut self, points: &[(f32, f32)], width: f32, colour: Colour, strength: f32) {
        self.dashed(points, width, colour, strength, None);
    }

    /// A line through points, perhaps in dashes of some length.
    pub fn dashed(
        &mut self,
        points: &[(f32, f32)],
        width: f32,
        colour: Colour,
        strength: f32,
        dash: Option<f32>,
    ) {
        let mut builder = PathBuilder::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 {
                builder.move_to(x, y);
            } else {
                builder.line_to(x, y);
            }
        }
        let dash = dash.and_then(|length| tiny_skia::StrokeDash::new(vec![length, length], 0.0));
        let stroke =
            Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, dash, ..Stroke::default() };
        if let Some(path) = builder.finish() {
            self.pixmap.stroke_path(&path, &paint(colour, strength), &stroke, self.scale, None);
        }
    }

    /// A full circle.
    pub fn disc(&mut self, (x, y): (f32, f32), r: f32, colour: Colour) {
        self.fill_path(PathBuilder::from_circle(x, y, r), &paint(colour, 1.0));
    }

    /// A circle's line.
    pub fn ring(&mut self, (x, y): (f32, f32), r: f32, width: f32, colour: Colour) {
        if let Some(path) = PathBuilder::from_circle(x, y, r) {
            let stroke = Stroke { width, ..Stroke::default() };
            self.pixmap.stroke_path(&path, &paint(colour, 1.0), &stroke, self.scale, None);
        }
    }

    /// A star with five points.
    pub fn star(&mut self, (x, y): (f32, f32), r: f32, colour: Colour, edge: Colour) {
        let mut builder = PathBuilder::new();
        for k in 0..10 {
            let radius = if k % 2 == 1 { r * 0.45 } else { r };
            let angle = k as f32 * std::f32::consts::PI / 5.0 - std::f32::consts::FRAC_PI_2;
            let (px, py) = (x + radius * angle.cos(), y + radius * angle.sin());
            if k == 0 {
                builder.move_to(px, py);
            } else {
                builder.line_to(px, py);
            }
        }
        builder.close();
        let path = builder.finish();
        if let Some(path) = &path {
            let stroke = Stroke { width: r * 0.14, line_join: LineJoin::Round, ..Stroke::default() };
            self.pixmap.stroke_path(path, &paint(edge, 1.0), &stroke, self.scale, None);
        }
        self.fill_path(path, &paint(colour, 1.0));
    }

    /// A cell that shines: its edge, and light around it.
    pub fn glow(&mut self, (x, y): (f32, f32), side: f32, colour: Colour, strength: f32) {
        let stops = [(0.0, 0.34), (0.5, 0.38), (1.0, 0.0)]
            .map(|(place, light)| GradientStop::new(place, of(colour, light * strength)));
        let shader = RadialGradient::new(
            Point::from_xy(x, y),
            0.0,
            Point::from_xy(x, y),
            side * 0.95,
            stops.to_vec(),
            SpreadMode::Pad,
            Transform::identity(),
        );
        if let (Some(shader), Some(rect)) =
            (shader, Rect::from_xywh(x - side, y - side, 2.0 * side, 2.0 * side))
        {
            self.pixmap.fill_rect(rect, &Paint { shader, ..Paint::default() }, self.scale, None);
        }
        let half = side * 0.44;
        if let Some(path) = rounded(x - half, y - half, 2.0 * half, 2.0 * half, side * 0.16) {
            let stroke = Stroke { width: side * 0.1, ..Stroke::default() };
            self.pixmap.stroke_path(&path, &paint(colour, strength), &stroke, self.scale, None);
        }
    }

    /// How wide a text is.
    pub fn width(&self, text: &str, size: f32, weight: Weight) -> f32 {
        let face = &self.fonts[usize::from(weight == Weight::Bold)];
        let units: u32 =
            text.chars().filter_map(|c| face.glyph_hor_advance(face.glyph_index(c)?)).map(u32::from).sum();
        units as f32 * size / f32::from(face.units_per_em())
    }

    /// A line of text on its base line. Signs that the font does not have are left out.
    #[allow(clippy::too_many_arguments)] // A text has that many properties, and a struct for them would be read no better.
    pub fn text(
        &mut self,
        x: f32,
        y: f32,
        text: &str,
        size: f32,
        weight: Weight,
        align: Align,
        colour: Colour,
    ) {
        let width = self.width(text, size, weight);
        let left = match align {
            Align::Left => x,
            Align::Right => x - width,
            Align::Centre => x - width / 2.0,
        };
        let face = &self.fonts[usize::from(weight == Weight::Bold)];
        let scale = size / f32::from(face.units_per_em());
        let mut outline = Outline { builder: PathBuilder::new(), scale, x: left, y };
        for c in text.chars() {
            let Some(glyph) = face.glyph_index(c) else { continue };
            face.outline_glyph(glyph, &mut outline);
            outline.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
        }
        let path = outline.builder.finish();
        self.fill_path(path, &paint(colour, 1.0));
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>> {
        let fail = |error: png::EncodingError| Error::new(format!("the picture cannot be encoded: {error}"));
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.pixmap.width(), self.pixmap.height());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        // Flat colours and repeated arrows compress best as they are: a third smaller than with filters.
        encoder.set_filter(png::Filter::NoFilter);
        // The canvas was filled, so every pixel is opaque and its colour stands as it is.
        let rgb: Vec<u8> = self.pixmap.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        let mut writer = encoder.write_header().map_err(fail)?;
        writer.write_image_data(&rgb).map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(bytes)
    }
}

fn rounded(x: f32, y: f32, width: f32, height: f32, r: f32) -> Option<Path> {
    if r <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_xywh(x, y, width, height)?));
    }
    let (right, bottom) = (x + width, y + height);
    let k = r * 0.4477; // what is left of the corner at the control points of a quarter circle
    let mut builder = PathBuilder::new();
    builder.move_to(x + r, y);
    builder.line_to(right - r, y);
    builder.cubic_to(right - k, y, right, y + k, right, y + r);
    builder.line_to(right, bottom - r);
    builder.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    builder.line_to(x + r, bottom);
    builder.cubic_to(x + k, bottom, x, bottom - k, x, bottom - r);
    builder.line_to(x, y + r);
    builder.cubic_to(x, y + k, x + k, y, x + r, y);
    builder.close();
    builder.finish()
}

/// Turns a glyph's outline into a path.
struct Outline {
    builder: PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
