//! SVG to PNG, with the font built in: the picture is the same on a machine without fonts.

use super::text::FONT;
use crate::{Error, Result};
use resvg::{tiny_skia, usvg};

/// The picture at `zoom` times its size, as the bytes of a PNG file.
///
/// # Errors
/// If the text is not an SVG document, or the picture is empty or too large.
pub fn png(svg: &str, zoom: f32) -> Result<Vec<u8>> {
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_string(), ..usvg::Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| Error::new(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * zoom).ceil() as u32, (size.height() * zoom).ceil() as u32);
    let canvas = tiny_skia::Pixmap::new(width, height);
    let mut canvas = canvas.ok_or_else(|| Error::new("the picture is empty or too large"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(zoom, zoom), &mut canvas.as_mut());
    encoded(&canvas).map_err(|error| Error::new(error.to_string()))
}

/// Flat colors and repeated shapes compress best unfiltered: a file is about a third smaller.
fn encoded(canvas: &tiny_skia::Pixmap) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, canvas.width(), canvas.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    // Every document begins with its background, so every pixel is opaque and its color needs no conversion.
    let rgb: Vec<u8> =
        canvas.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(bytes)
}
