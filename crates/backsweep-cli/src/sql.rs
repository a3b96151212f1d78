//! The rows of a query, asked of a database by its own program: nothing is linked for it.

use crate::error::{Error, Result};
use backsweep_log::Input;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};

/// Writes the rows as CSV, with Python's duckdb: DuckDB itself writes them to a file, so that values are not converted.
const PYTHON: &str = "import duckdb, os, shutil, sys, tempfile
with tempfile.TemporaryDirectory() as folder, duckdb.connect(sys.argv[1], read_only=True) as connection:
    path = os.path.join(folder, 'rows.csv')
    quoted = path.replace(chr(39), 2 * chr(39))
    connection.execute('COPY (' + sys.argv[2] + '\\n) TO ' + chr(39) + quoted + chr(39) + ' (FORMAT csv, HEADER)')
    with open(path, 'rb') as rows:
        shutil.copyfileobj(rows, sys.stdout.buffer)
";

/// A program that can ask a database, and what to install if there is none.
struct RowSource {
    programs: Vec<Vec<String>>,
    remedy: &'static str,
}

impl RowSource {
    fn of(query: &str, database: &str) -> Result<Self> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let copy = |to: &str| format!("COPY ({query}\n) TO {to} (FORMAT csv, HEADER)");
        if database.starts_with("postgres://") || database.starts_with("postgresql://") {
            let copy = copy("STDOUT WITH");
            let psql = words(&["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", &copy]);
            return Ok(Self { programs: vec![psql], remedy: "install psql, the client of PostgreSQL" });
        }
        let failed =
            |error: std::io::Error| Error::new(format!("--db {database}: cannot read the file ({error})"));
        let mut head = Vec::new();
        File::open(database).and_then(|file| file.take(16).read_to_end(&mut head)).map_err(failed)?;
        if head == b"SQLite format 3\0" {
            let sqlite = words(&["sqlite3", "-readonly", "-csv", "-header", database, query]);
            return Ok(Self { programs: vec![sqlite], remedy: "install sqlite3" });
        }
        if head.get(8..12) != Some(b"DUCK") {
            let expected = "expected a file of DuckDB or SQLite, or postgres://…";
            return Err(Error::new(format!(
                "--db {database}: this is no database that is known; {expected}"
            )));
        }
        let copy = copy("'/dev/stdout'");
        let duckdb = words(&["duckdb", "-readonly", database, "-c", &copy]);
        let python = ["python3", "python"].map(|python| words(&[python, "-c", PYTHON, database, query]));
        let programs = std::iter::once(duckdb).chain(python).collect();
        let remedy = "install the duckdb command, or Python's duckdb (pip install duckdb)";
        Ok(Self { programs, remedy })
    }
}

/// The rows of a query, held in memory.
pub fn rows(query: &str, database: &str) -> Result<Input> {
    let query = query.trim().trim_end_matches(';');
    let source = RowSource::of(query, database)?;
    for program in &source.programs {
        let run = Command::new(&program[0]).args(&program[1..]).stdin(Stdio::null()).output();
        let output = match run {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::new(format!("--db: cannot run {} ({error})", program[0]))),
        };
        if output.status.success() {
            return Ok(Input::Bytes("the rows of --sql".to_owned(), output.stdout.into()));
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_missing = said.contains("No module named 'duckdb'") || said.contains("command not found");
        if !is_missing {
            let is_told = |line: &&str| {
                !line.is_empty() && !line.starts_with("Traceback") && !line.starts_with("File ")
            };
            let said: Vec<&str> = said.lines().map(str::trim).filter(is_told).collect();
            return Err(Error::new(format!("--sql: {} says: {}", program[0], said.join(" "))));
        }
    }
    let found = "no program that can read this database was found";
    Err(Error::new(format!(
        "--db {database}: {found}; {}, or export the rows as CSV or Parquet",
        source.remedy
    )))
}
