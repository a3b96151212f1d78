//! Decimal numbers: read exactly, printed as they are read.

use backsweep_log::decimal::{Decimal, NotDecimal, power};

#[test]
fn numbers_are_read_exactly_and_in_their_shortest_form() {
    let cases = [
        ("0", 0, 0),
        ("-1.0", -1, 0),
        ("0.50", 5, 1),
        ("1e-3", 1, 3),
        ("-2.5E2", -250, 0),
        (" 7 ", 7, 0),
        ("+.25", 25, 2),
        ("100", 100, 0),
        ("1.05", 105, 2),
        ("0.000", 0, 0),
        ("12.", 12, 0),
        ("1200e-2", 12, 0),
        ("10.010", 1001, 2),
        ("123456789012345678", 123_456_789_012_345_678, 0),
        ("0.000000000000000001", 1, 18),
    ];
    for (text, mantissa, decimals) in cases {
        assert_eq!(Decimal::parse(text.as_bytes()), Ok(Decimal { mantissa, decimals }), "{text}");
    }
    for text in ["", "-", ".", "e5", "1e", "nan", "inf", "1,5", "0x10", "1.2.3", "--1", "1e1000"] {
        assert_eq!(Decimal::parse(text.as_bytes()), Err(NotDecimal::Number), "{text}");
    }
    for text in ["12345678901234567890", "0.1234567890123456789", "1e30", "1e-19"] {
        assert_eq!(Decimal::parse(text.as_bytes()), Err(NotDecimal::Digits), "{text}");
    }
}

#[test]
fn units_of_a_float_are_those_of_its_shortest_decimal() {
    let mut random = 1_u64;
    for i in 0..200_000_i64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Decimals, their neighbours, and any bits at all.
        let decimal = ((random >> 40) as i64 - (1 << 23)) as f64 / power((i % 7) as u8) as f64;
        let next = f64::from_bits(decimal.to_bits().wrapping_add(1));
        for x in [decimal, next, f64::from_bits(random), -0.0] {
            for decimals in [0, 2, 6, 15, 18] {
                let expected = Decimal::shortest(x).and_then(|number| number.in_units(decimals));
                if let Some(units) = Decimal::units_of(x, decimals) {
                    assert_eq!(Some(units), expected, "{x} in units of 10^-{decimals}");
                } else if decimals <= 15 {
                    let large = expected.is_none_or(|units| units.unsigned_abs() >= 1_000_000_000_000_000);
                    assert!(large, "{x} in units of 10^-{decimals} was missed");
                }
            }
        }
    }
}

#[test]
fn a_float_is_the_decimal_that_programs_print() {
    for text in ["0", "0.1", "-0.25", "1000000", "0.30000000000000004", "1e-7", "123456.789", "-17.5"] {
        let x: f64 = text.parse().unwrap();
        assert_eq!(Decimal::shortest(x), Decimal::parse(text.as_bytes()).ok(), "{text}");
    }
    assert_eq!(Decimal::shortest(f64::NAN), None);
    assert_eq!(Decimal::shortest(f64::INFINITY), None);
    assert_eq!(Decimal::shortest(1e300), None);
}

#[test]
fn decimals_print_and_round_as_expected() {
    let decimal = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
    for text in ["-0.05", "3", "12.5", "-7"] {
        assert_eq!(decimal(text).to_string(), text);
        assert_eq!(decimal(text).to_f64(), text.parse::<f64>().unwrap());
    }
    assert!(decimal("1.75").is_multiple_of(decimal("0.25")));
    assert!(!decimal("1.7").is_multiple_of(decimal("0.25")));
    assert_eq!(decimal("1.5").in_units(3), Some(1500));
    assert_eq!(decimal("1.5").in_units(0), None);
    assert_eq!(decimal("0.05").nearest_multiple(0.30000000000000004), Some(decimal("0.3")));
    assert_eq!(decimal("0.05").nearest_multiple(-0.076), Some(decimal("-0.1")));
    assert_eq!(decimal("0.01").nearest_multiple(1e300), None);
}
