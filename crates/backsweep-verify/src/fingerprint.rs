//! A number that identifies a model.

use backsweep_mdp::Mdp;

/// 128 bits over everything that values depend on: offsets, targets, probabilities, rewards, labels and initial states. Names
/// of states and actions do not count. Not meant to withstand forgery.
pub fn fingerprint(mdp: &Mdp) -> String {
    let mut hash = Hash { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 };
    for ids in [mdp.choice_starts(), mdp.arc_starts(), mdp.targets(), &mdp.initial] {
        hash.ids(ids);
    }
    hash.numbers(mdp.probabilities());
    for rewards in &mdp.rewards {
        hash.text(&rewards.name);
        for values in [&rewards.states, &rewards.choices, &rewards.arcs] {
            hash.numbers(values);
        }
    }
    for label in &mdp.labels {
        hash.text(&label.name);
        hash.ids(&label.states);
    }
    format!("{:016x}{:016x}", hash.a, hash.b)
}

struct Hash {
    a: u64,
    b: u64,
}

impl Hash {
    fn word(&mut self, word: u64) {
        self.a = (self.a ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.b = (self.b.rotate_left(23) ^ self.a ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.b ^= self.b >> 32;
    }

    fn ids(&mut self, ids: &[u32]) {
        self.word(ids.len() as u64);
        ids.iter().for_each(|&id| self.word(u64::from(id)));
    }

    fn numbers(&mut self, values: &[f64]) {
        self.word(values.len() as u64);
        values.iter().for_each(|value| self.word(value.to_bits()));
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        text.bytes().for_each(|byte| self.word(u64::from(byte)));
    }
}
