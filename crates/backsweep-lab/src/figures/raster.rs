//! SVG to PNG, with the font built in: the picture is the same on a machine without fonts.

use super::text::FONT;
use resvg::{tiny_skia, usvg};

/// The picture at twice its size, as the bytes of a PNG file.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    const ZOOM: f32 = 2.0;
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_string(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let (width, height) = ((size.width() * ZOOM).ceil() as u32, (size.height() * ZOOM).ceil() as u32);
    let mut canvas = tiny_skia::Pixmap::new(width, height).ok_or("a picture without an area")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut canvas.as_mut());
    canvas.encode_png().map_err(|error| error.to_string())
}
