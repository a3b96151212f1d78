//! A folder with small models, and the command run in it.
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with small models, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("backsweep-solve-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        // From 0: 'go' leads to 1 or to the trap 2, 'wait' stays. From 1: 'on' leads to the goal 3 or to the trap, 'back' to 0.
        let arcs = "0 0 1 0.5 go\n0 0 2 0.5 go\n0 1 0 1 wait\n1 0 2 0.1 on\n1 0 3 0.9 on\n1 1 0 1 back\n2 0 2 1 stay\n3 0 3 1 stay\n";
        folder.write("m.tra", &format!("4 6 8\n{arcs}"));
        folder.write("m.lab", "0=\"init\" 1=\"goal\" 2=\"trap\" 3=\"middle\"\n0: 0\n1: 3\n2: 2\n3: 1\n");
        // A walk with a choice between a slow and an expensive way to the end; state 3 never gets there.
        folder.write(
            "walk.tra",
            "4 5 6\n0 0 0 0.5 slow\n0 0 1 0.5 slow\n0 1 1 1 dear\n1 0 2 1 on\n2 0 2 1 end\n3 0 3 1 lost\n",
        );
        folder.write("walk.lab", "0=\"init\" 1=\"done\"\n0: 0\n2: 1\n3: 0\n");
        folder.write("walk.cost.trew", "4 5 4\n0 0 0 1\n0 0 1 1\n0 1 1 5\n1 0 2 1\n");
        folder.write(
            "t.csv",
            "state,action,next_state,probability,reward,terminated\nhall,go,kitchen,0.5,1,false\nhall,go,hall,0.5,0,false\n\
             hall,sleep,hall,1,0.1,false\nkitchen,cook,,1,8,true\n",
        );
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    pub fn run(&self, line: &str) -> Output {
        command(&self.0, line).output().unwrap()
    }

    /// The table that a solve prints.
    pub fn solve(&self, line: &str) -> String {
        let done = self.run(&format!("solve {line}"));
        assert!(done.status.success(), "{line}: {}", text(&done.stderr));
        assert_eq!(text(&done.stderr), "", "{line}");
        text(&done.stdout)
    }

    /// The values that a solve writes, each within its interval.
    pub fn values(&self, line: &str) -> Vec<f64> {
        let table = self.solve(&format!("{line} --values v.csv"));
        assert!(table.contains("\nproven: every value is within"), "{table}");
        let csv = self.read("v.csv");
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("state,value,lower,upper"));
        let row = |line: &str| {
            let numbers: Vec<f64> = line.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
            assert!(numbers[1] <= numbers[0] && numbers[0] <= numbers[2], "{line}");
            numbers[0]
        };
        lines.map(row).collect()
    }

    /// The line of an error.
    pub fn error(&self, line: &str) -> String {
        let done = self.run(&format!("solve {line}"));
        assert_eq!(done.status.code(), Some(2), "{line}: {}", text(&done.stdout));
        assert_eq!(text(&done.stdout), "", "{line}");
        let message = text(&done.stderr);
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    }

    /// A walk on a torus, which sweeps cannot solve within the time of a test.
    pub fn slow(&self) -> &'static str {
        let side = 300;
        let n = side * side;
        let mut arcs = format!("{n} {}\n", 4 * n);
        for state in 0..n {
            let (x, y) = (state % side, state / side);
            let mut next = [
                (x + 1) % side + y * side,
                (x + side - 1) % side + y * side,
                x + (y + 1) % side * side,
                x + (y + side - 1) % side * side,
            ];
            next.sort_unstable();
            next.iter().for_each(|next| writeln!(arcs, "{state} {next} 0.25").unwrap());
        }
        self.write("torus.tra", &arcs);
        self.write("torus.srew", &format!("{n} 1\n0 1\n"));
        "torus.tra --discount 0.99999999 --tolerance 1e-9 --method in-place"
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backsweep"));
    command.current_dir(folder).args(line.split_whitespace());
    command
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}
