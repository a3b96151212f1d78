//! Machines without a card, a driver or a new one get one line.

use backsweep_cuda::{Card, Error};

#[test]
fn a_machine_without_a_card_says_so() {
    // A machine that has one passes too: then it opens.
    match Card::open() {
        Ok(card) => assert!(!card.name().unwrap().is_empty()),
        Err(error) => {
            assert!(!matches!(error, Error::Driver(_) | Error::Model(_)), "{error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }
}

#[test]
fn every_message_says_what_was_found_and_expected() {
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(Error::OldDriver { found: 11040 }),
        "the NVIDIA driver supports CUDA 11.4; expected at least 12.0: update the driver"
    );
    assert_eq!(
        text(Error::Memory { needed: 36_500_000_000, free: 23_000_000_000 }),
        "the model needs 36.5 GB of the card's memory, and 23.0 GB are free"
    );
    assert_eq!(
        text(Error::OldCard { card: "NVIDIA P100".to_owned(), found: (6, 0) }),
        "NVIDIA P100 has compute capability 6.0; expected at least 7.0"
    );
}
