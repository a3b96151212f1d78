//! The methods of the paper: their titles, and the order in which tables and legends list them.

const KNOWN: [(&str, &str); 10] = [
    ("small_backups", "Small backups"),
    ("reversed_full_backups", "Reversed full backups"),
    ("moore_atkeson", "Moore & Atkeson"),
    ("peng_williams", "Peng & Williams"),
    ("wiering_schmidhuber", "Wiering & Schmidhuber"),
    ("value_iteration", "Value iteration"),
    ("r_max", "R-max"),
    ("small_backup", "One small backup per step"),
    ("td_constant", "TD(0), constant step size"),
    ("td_decaying", "TD(0), decaying step size"),
];

/// The title of `method`.
pub fn title(method: &str) -> String {
    match KNOWN.iter().find(|(name, _)| *name == method) {
        Some((_, title)) => (*title).to_string(),
        None => {
            let words = method.replace('_', " ");
            let mut letters = words.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
    }
}

/// The place of `method` in tables and legends: the paper's own method first.
pub fn rank(method: &str) -> usize {
    KNOWN.iter().position(|(name, _)| *name == method).unwrap_or(KNOWN.len())
}
