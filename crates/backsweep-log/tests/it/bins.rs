//! Columns cut into bins: their text, their names, and the edges that quantiles become.

use backsweep_log::bins::{BinnedColumn, Bins, Edge, NumberCounts, labels};

fn edges(text: &str) -> Vec<Edge> {
    match BinnedColumn::parse(text).unwrap().bins {
        Bins::Edges(edges) => edges,
        other => panic!("{text}: {other:?}"),
    }
}

fn closed(text: &str, values: &[f64]) -> String {
    let mut column = BinnedColumn::parse(text).unwrap();
    let mut counted = NumberCounts::default();
    counted.add(values.iter().map(|x| (x.to_bits(), 1)));
    column.close(&counted).map_or_else(|error| error.to_string(), |()| column.to_string())
}

#[test]
fn columns_print_as_they_are_read() {
    for text in ["ward", "sofa:0|5|10", "dose:>0|2.5", "age:q4", "dose:0q4", "a:b", "x:-1.5|0|>0"] {
        assert_eq!(BinnedColumn::parse(text).unwrap().to_string(), text);
    }
    for text in ["", ":q4", "a:q1", "a:q1001", "a:5|5", "a:5|0", "a:>5|5"] {
        assert!(BinnedColumn::parse(text).is_err(), "{text}");
    }
}

#[test]
fn bins_have_readable_names() {
    assert_eq!(labels(&edges("x:0|5|10")), ["<0", "0..5", "5..10", ">=10"]);
    assert_eq!(labels(&edges("x:>0|2.5")), ["<=0", ">0..2.5", ">=2.5"]);
    assert_eq!(labels(&edges("x:7")), ["<7", ">=7"]);
}

#[test]
fn quantiles_become_edges_that_are_values() {
    assert_eq!(closed("x:q4", &[4.0, 1.0, 3.0, 2.0, 8.0, 6.0, 7.0, 5.0]), "x:3|5|7");
    assert_eq!(closed("x:q2", &[-1.0, -3.0, 2.5]), "x:-1");
    assert_eq!(closed("x:q4", &[0.0, 0.0, 0.0, 9.0, 9.0]), "x:9");
    assert_eq!(closed("x:0q2", &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]), "x:>0|3");
    assert!(closed("x:0q2", &[-1.0, 2.0]).contains("below 0"));
    assert!(closed("x:q3", &[5.0, 5.0]).contains("same value"));
}

#[test]
fn quantiles_are_in_the_order_of_numbers_and_minus_zero_is_zero() {
    let numbers = [3.0, -1.0, -0.0, 1e-17, -1e15, 2.5, -0.5, 0.0];
    assert_eq!(closed("x:q8", &numbers), "x:-1|-0.5|0|0.00000000000000001|2.5|3");
}
