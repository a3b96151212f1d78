//! The colors of values: viridis (van der Walt & Smith 2015, public domain), in which equal steps in value look equal,
//! also in gray and to most color-blind viewers.

/// A color as red, green, blue.
pub type Color = [u8; 3];

/// Every eighth color of viridis; those between are mixed.
const VIRIDIS: [u32; 33] = [
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453781, 0x424086, 0x3e4989, 0x3b528b, 0x375b8d,
    0x33638d, 0x2f6b8e, 0x2c728e, 0x297a8e, 0x26828e, 0x23898e, 0x21918c, 0x1f978b, 0x1f9f88, 0x21a685,
    0x27ad81, 0x31b57b, 0x3dbc74, 0x4cc26c, 0x5cc863, 0x6ece58, 0x81d34d, 0x95d840, 0xaadc32, 0xc0df25,
    0xd5e21a, 0xeae51a, 0xfde725,
];

/// The color at a place from 0 (low, dark) to 1 (high, bright).
pub fn color(place: f64) -> Color {
    let place = if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) } * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let share = place - below as f64;
    mix(rgb(VIRIDIS[below]), rgb(VIRIDIS[below + 1]), share)
}

/// A color between two others.
pub fn mix(from: Color, to: Color, share: f64) -> Color {
    std::array::from_fn(|i| (f64::from(from[i]) * (1.0 - share) + f64::from(to[i]) * share).round() as u8)
}

/// Returns whether light ink reads better on a color than dark ink.
pub fn is_dark([r, g, b]: Color) -> bool {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b) < 128.0
}

/// A color from `0xRRGGBB`.
pub fn rgb(code: u32) -> Color {
    [(code >> 16) as u8, (code >> 8) as u8, code as u8]
}

/// The table as the page takes it: `#rrggbb` from low to high.
pub fn codes() -> Vec<String> {
    VIRIDIS.iter().map(|code| format!("#{code:06x}")).collect()
}
