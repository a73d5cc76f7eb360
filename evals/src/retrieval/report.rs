//! Results of a run, as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::gone::RemovalCheck;
use super::known::{self, FLOORS};
use super::metrics::{Figures, interval};
use super::precision::Precision;

/// The row that the floors apply to.
pub const LUKASA: &str = "Lukasa";
pub const BM25: &str = "BM25";

/// One way of ranking, over one data set.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: String,
    /// From an earlier measurement, not measured in this run.
    pub told: bool,
    pub all: Figures,
    pub categories: BTreeMap<String, Figures>,
    /// Over the tuning half of the questions, and over the held-out half.
    pub halves: Option<[Figures; 2]>,
    /// Of R@10.
    pub interval: Option<(f64, f64)>,
}

/// A question's figures, with its category and half.
pub struct Scored<'a> {
    pub figures: Figures,
    pub category: &'a str,
    pub half: usize,
}

impl Row {
    pub fn measured(name: &str, scored: &[Scored<'_>]) -> Self {
        let mut categories: BTreeMap<String, Vec<&Figures>> = BTreeMap::new();
        for one in scored {
            categories.entry(one.category.to_owned()).or_default().push(&one.figures);
        }
        let half = |half: usize| {
            Figures::mean(scored.iter().filter(|one| one.half == half).map(|one| &one.figures))
        };
        let r10: Vec<f64> = scored.iter().map(|one| one.figures.r10).collect();
        Self {
            name: name.to_owned(),
            told: false,
            all: Figures::mean(scored.iter().map(|one| &one.figures)),
            categories: categories.into_iter().map(|(c, all)| (c, Figures::mean(all))).collect(),
            halves: Some([half(0), half(1)]),
            interval: Some(interval(&r10, 7)),
        }
    }

    pub fn earlier(all: Figures) -> Self {
        let name = "best baseline (earlier run)".to_owned();
        Self { name, told: true, all, categories: BTreeMap::new(), halves: None, interval: None }
    }
}

#[derive(Debug, Serialize)]
pub struct SetReport {
    pub name: &'static str,
    pub users: usize,
    pub questions: usize,
    pub turns: usize,
    pub memories: usize,
    /// Number of units a question chooses from, on average.
    pub pool: f64,
    pub counts: BTreeMap<String, usize>,
    pub rows: Vec<Row>,
    /// Latency of Lukasa's requests, as seen by the client.
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub seconds: f64,
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub quick: bool,
    pub embedder: String,
    pub sets: Vec<SetReport>,
    pub precision: Option<Precision>,
    pub gone: Option<RemovalCheck>,
    /// Features that the server lacked.
    pub lacking: Vec<String>,
}

type Column = (&'static str, fn(&Figures) -> f64);

const COLUMNS: &[Column] = &[
    ("R@5", |f| f.r5),
    ("R@10", |f| f.r10),
    ("R@20", |f| f.r20),
    ("R@50", |f| f.r50),
    ("any@5", |f| f.any5),
    ("any@10", |f| f.any10),
    ("all@10", |f| f.all10),
    ("NDCG@10", |f| f.ndcg10),
    ("MRR", |f| f.mrr),
    ("sHit@1", |f| f.session1),
    ("P@10", |f| f.precision10),
];

pub fn column(name: &str) -> Option<fn(&Figures) -> f64> {
    COLUMNS.iter().find(|column| column.0 == name).map(|column| column.1)
}

/// `.632`, as such figures are usually written.
pub fn share(value: f64) -> String {
    if value.is_nan() {
        return "-".into();
    }
    let text = format!("{value:.3}");
    text.strip_prefix('0').map_or(text.clone(), ToOwned::to_owned)
}

impl SetReport {
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    fn render(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "## {}: {} questions, {} users, {} turns, {} memories, {:.0} candidates each\n",
            self.name, self.questions, self.users, self.turns, self.memories, self.pool
        );
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "| {:width$} | {} | tokens/answer |", "", names.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(COLUMNS.len() + 2));
        for row in &self.rows {
            let cells: Vec<String> = COLUMNS
                .iter()
                .map(|(name, value)| format!("{:>1$}", share(value(&row.all)), name.len()))
                .collect();
            let tokens = match row.all.chars10.is_nan() || row.all.chars10 == 0.0 {
                true => "-".to_owned(),
                false => format!("{:.0}", row.all.tokens_per_answer()),
            };
            let _ =
                writeln!(text, "| {:width$} | {} | {tokens:>13} |", row.name, cells.join(" | "));
        }
        if let Some(row) = self.row(LUKASA)
            && let (Some((low, high)), Some([tuned, held])) = (row.interval, &row.halves)
        {
            let _ = writeln!(
                text,
                "\nLukasa's R@10 lies between {} and {} (95 %); tuned half {}, held-out half {}. \
                 A request took {:.1} ms (median), {:.1} ms (95 %).",
                share(low),
                share(high),
                share(tuned.r10),
                share(held.r10),
                self.p50_ms,
                self.p95_ms
            );
        }
        self.render_categories(text);
    }

    fn render_categories(&self, text: &mut String) {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| !row.categories.is_empty()).collect();
        let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let heads: Vec<String> = self.counts.iter().map(|(c, n)| format!("{c} ({n})")).collect();
        let _ = writeln!(text, "\n| {:width$} | {} |", "R@10 by category", heads.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(heads.len() + 1));
        for row in rows {
            let cell = |category: &String| {
                let value = row.categories.get(category).map_or(f64::NAN, |f| f.r10);
                format!("{:>1$}", share(value), category.len() + 4)
            };
            let cells: Vec<String> = self.counts.keys().map(cell).collect();
            let _ = writeln!(text, "| {:width$} | {} |", row.name, cells.join(" | "));
        }
        text.push('\n');
    }
}

impl Report {
    pub fn render(&self) -> String {
        let mut text = String::new();
        for set in &self.sets {
            set.render(&mut text);
        }
        if let Some(found) = &self.precision {
            let _ = writeln!(
                text,
                "## precision: {} of {} cases passed ({} of {} in which something is to be found), \
                 mean precision {:.2}, mean recall {:.2}\n",
                found.passes,
                found.cases,
                found.active_passes,
                found.active,
                found.mean_precision,
                found.mean_recall
            );
            for failure in &found.failures {
                let _ = writeln!(text, "- {failure}");
            }
            text.push('\n');
        }
        if let Some(gone) = &self.gone {
            let _ = writeln!(
                text,
                "## Gone: of {} deleted memories {} came back in {} questions, of {} forgotten {} \
                 in {}; of {} changed facts {} questions found an old value, {} the new one\n",
                gone.deleted,
                gone.came_back_deleted,
                gone.after_delete,
                gone.forgotten,
                gone.came_back_forgotten,
                gone.after_forget,
                gone.changed,
                gone.old_values,
                gone.new_values
            );
        }
        for lacking in &self.lacking {
            let _ = writeln!(text, "Note: {lacking}.");
        }
        text
    }

    /// All reasons why this run is not a success.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for floor in FLOORS {
            let least = if self.quick { floor.quick } else { floor.full };
            let value = match (floor.set, &self.precision) {
                ("precision", Some(found)) => Some(found.passes as f64),
                _ => self.figure(floor.set, floor.figure),
            };
            if let Some(value) = value.filter(|value| *value < least) {
                let (set, figure) = (floor.set, floor.figure);
                faults.push(format!("{set}: {figure} is {value:.3}, below its floor {least}"));
            }
        }
        if !self.quick {
            faults.extend(self.sets.iter().filter_map(other_bm25));
        }
        if let Some(gone) = self.gone.as_ref().filter(|gone| gone.found_again() > 0) {
            faults.push(format!("removed memories were found {} times", gone.found_again()));
        }
        faults
    }

    fn figure(&self, set: &str, figure: &str) -> Option<f64> {
        let row = self.sets.iter().find(|found| found.name == set)?.row(LUKASA)?;
        column(figure).map(|value| value(&row.all))
    }
}

/// A keyword baseline that differs from the known one makes every other figure doubtful.
fn other_bm25(set: &SetReport) -> Option<String> {
    let (known, found) = (known::bm25_r10(set.name)?, set.row(BM25)?.all.r10);
    ((known - found).abs() > known::BM25_TOLERANCE)
        .then(|| format!("{}: BM25's R@10 is {found:.3} and should be {known:.3}", set.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_below_its_floor_is_a_fault() {
        let row = |r10| {
            let figures = Figures { r10, ndcg10: 1.0, ..Figures::default() };
            Row::measured(LUKASA, &[Scored { figures, category: "c", half: 0 }])
        };
        let report = |r10| Report {
            quick: true,
            sets: vec![SetReport {
                name: "locomo",
                users: 1,
                questions: 1,
                turns: 1,
                memories: 0,
                pool: 1.0,
                counts: BTreeMap::from([("c".to_owned(), 1)]),
                rows: vec![row(r10)],
                p50_ms: 1.0,
                p95_ms: 1.0,
                seconds: 1.0,
            }],
            ..Report::default()
        };
        assert!(report(1.0).faults().is_empty());
        assert_eq!(report(0.1).faults().len(), 1);
        let gone = Some(RemovalCheck { old_values: 1, ..RemovalCheck::default() });
        assert_eq!(Report { gone, ..report(1.0) }.faults().len(), 1);
        assert!(report(0.5).render().contains(".500"));
    }
}
