//! Draws the cost of a cycle and the memory against the number of states, from files that `backsweep bench --json` wrote:
//!
//! `cargo run --release -p backsweep-bench --example scale_figure -- docs/images/scale FILE...`

use backsweep_lab::figures::chart::{Axis, Chart, LineStyle, Mark, Panel, Point, Series};
use backsweep_lab::figures::{draw, raster};
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let out =
        arguments.next().ok_or("expected the name of the picture, without extension, then the files")?;
    let mut rows: Vec<Value> = Vec::new();
    for file in arguments {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        rows.extend(serde_json::from_str::<Vec<Value>>(&text).map_err(|error| format!("{file}: {error}"))?);
    }
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    let states = |row: &Value| number(row, "side").powi(2);
    let curve = |label: &str, queue: &str, paint, mark, y: &dyn Fn(&Value) -> f64| {
        let rows = rows.iter().filter(|row| row["queue"] == queue);
        let points = rows.map(|row| Point::new(states(row), y(row))).collect();
        Series::curve(label, paint, LineStyle::Solid, points).marked(mark)
    };
    let (blue, orange) = ("#0072b2", "#d55e00");
    let time = |row: &Value| number(row, "ns_per_backup");
    let per_arc = |row: &Value| {
        let pairs = 4.0 * states(row);
        let all = number(row, "bytes_per_arc") * number(row, "arcs") + number(row, "bytes_per_pair") * pairs;
        all / (24.0 * number(row, "arcs") + 40.0 * pairs)
    };
    let panels = vec![
        Panel {
            title: "Time per backup, including the whole cycle".into(),
            x: Axis::log("states"),
            y: Axis::linear("nanoseconds").between(0.0, 1.1 * rows.iter().map(time).fold(0.0, f64::max)),
            series: vec![
                curve("exact queue", "exact", blue, Mark::Circle, &time),
                curve("bucket queue", "bucket", orange, Mark::Square, &time),
            ],
        },
        Panel {
            title: "Memory, as a share of 24 bytes per arc and 40 per pair".into(),
            x: Axis::log("states"),
            y: Axis::linear("share").between(0.0, 1.2),
            series: vec![
                curve("exact queue", "exact", blue, Mark::Circle, &per_arc),
                curve("bucket queue", "bucket", orange, Mark::Square, &per_arc),
            ],
        },
    ];
    let svg = draw::svg(&Chart::new("scale", "Cost against the size of the model", 2, panels));
    std::fs::write(format!("{out}.svg"), &svg)?;
    std::fs::write(format!("{out}.png"), raster::png(&svg, 2.0)?)?;
    Ok(())
}
