//! The figures as an SVG chart: for each data set the R@10 of every way of ranking.

use std::fmt::Write as _;

use super::report::{LUKASA, Report, Row, SetReport, share};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 50.0;
const BARS: f64 = 300.0;
const TOP: f64 = 90.0;

const COLOURS: [&str; 6] = ["#9aa5b1", "#c9a227", "#d9844a", "#b5651d", "#6b7a8f", "#1f6f8b"];

pub fn svg(report: &Report) -> String {
    let height = TOP + BARS + 60.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    put(&mut text, 20.0, 28.0, "start", 16, "R@10: the share of the answers among the first ten");
    let base = TOP + BARS;
    for fifth in 0..=5_u8 {
        let share = f64::from(fifth) / 5.0;
        let y = base - share * BARS;
        let _ = writeln!(text, "<path d=\"M{LEFT} {y:.1}H{:.1}\" stroke=\"#ddd\"/>", WIDTH - 10.0);
        put(&mut text, LEFT - 6.0, y + 4.0, "end", 11, &format!("{share:.1}"));
    }
    let shown: Vec<Vec<&Row>> = report.sets.iter().map(compared).collect();
    for (number, row) in
        shown.iter().max_by_key(|rows| rows.len()).into_iter().flatten().enumerate()
    {
        let x = 20.0 + 160.0 * number as f64;
        let colour = colour(&row.name, number);
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"44\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        );
        put(&mut text, x + 18.0, 55.0, "start", 12, &row.name);
    }
    let columns: usize = shown.iter().map(|rows| rows.len() + 1).sum();
    let step = (WIDTH - LEFT - 10.0) / columns.max(1) as f64;
    let mut x = LEFT + step / 2.0;
    for (set, rows) in report.sets.iter().zip(&shown) {
        let middle = x + step * rows.len() as f64 / 2.0;
        for (number, row) in rows.iter().enumerate() {
            bar(&mut text, row, number, x, step, base);
            x += step;
        }
        put(&mut text, middle, base + 20.0, "middle", 12, set.name);
        put(&mut text, middle, base + 36.0, "middle", 10, &format!("n = {}", set.questions));
        x += step;
    }
    text.push_str("</svg>\n");
    text
}

/// The rows of the comparison, without the ablations.
fn compared(set: &SetReport) -> Vec<&Row> {
    set.rows
        .iter()
        .filter(|row| !row.name.starts_with("without") && !row.all.r10.is_nan())
        .collect()
}

fn colour(name: &str, number: usize) -> &'static str {
    if name == LUKASA { COLOURS[5] } else { COLOURS[number % 5] }
}

fn bar(text: &mut String, row: &Row, number: usize, x: f64, step: f64, base: f64) {
    let tall = row.all.r10 * BARS;
    let (wide, colour) = (step * 0.86, colour(&row.name, number));
    let _ = writeln!(
        text,
        "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"{colour}\"/>",
        base - tall
    );
    if let Some((low, high)) = row.interval {
        let middle = x + wide / 2.0;
        let (top, bottom) = (base - high * BARS, base - low * BARS);
        let _ = writeln!(
            text,
            "<path d=\"M{middle:.1} {top:.1}V{bottom:.1}\" stroke=\"#333\" stroke-width=\"1.5\"/>"
        );
    }
    let y = base - row.interval.map_or(row.all.r10, |(_, high)| high) * BARS - 4.0;
    put(text, x + wide / 2.0, y, "middle", 9, &share(row.all.r10));
}

fn put(text: &mut String, x: f64, y: f64, anchor: &str, size: u32, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        text,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>"
    );
}
