//! Text in pictures: escaping, and widths measured in the font the pictures are set in.

use std::sync::OnceLock;

/// DejaVu Sans, reduced to Latin, Greek, Cyrillic and a few symbols; license in `LICENSE.DejaVu`.
pub const FONT: &[u8] = include_bytes!("DejaVuSans-subset.ttf");

/// The fonts to use, widest first, so that text never outgrows the room measured for it.
pub const FAMILY: &str = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

/// `text` made safe for the content and the attributes of XML and HTML.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no way to write control characters.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The width of `text` in pixels at `size` pixels.
pub fn width(text: &str, size: f64) -> f64 {
    static FACE: OnceLock<Option<ttf_parser::Face<'static>>> = OnceLock::new();
    let face = FACE.get_or_init(|| ttf_parser::Face::parse(FONT, 0).ok());
    let advance = |c: char| {
        let face = face.as_ref()?;
        let advance = face.glyph_hor_advance(face.glyph_index(c)?)?;
        Some(f64::from(advance) / f64::from(face.units_per_em()))
    };
    // A character the font lacks is taken to be as wide as a wide letter.
    text.chars().map(|c| advance(c).unwrap_or(0.9)).sum::<f64>() * size
}
