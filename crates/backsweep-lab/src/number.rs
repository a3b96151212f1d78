//! Numbers as figures, report and verdict print them.

/// A number with a true minus sign and no `-0`.
pub fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A number with as many digits as it needs, without a long row of zeros.
pub fn short(value: f64) -> String {
    let text = if value != 0.0 && value.abs() < 1e-4 { format!("{value:e}") } else { value.to_string() };
    text.replace('-', "−").replace("e−", "e-")
}
