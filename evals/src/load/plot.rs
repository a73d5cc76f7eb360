//! The figures as an SVG chart: throughput as bars, latency as lines.

use std::fmt::Write as _;

use super::report::{Cell, thousands};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 60.0;
const BARS: f64 = 260.0;
/// A figure of a cell.
type Figure = fn(&Cell) -> f64;

const HTTP: &str = "#1f6f8b";
const BARE: &str = "#c9a227";

/// Bars of requests per second for each operation, and its latencies below.
pub fn svg(cells: &[Cell], title: &str) -> String {
    let mut groups: Vec<Vec<&Cell>> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|group| group[0].operation == cell.operation) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    let lines = groups.len().div_ceil(4) as f64;
    let height = 100.0 + BARS + 60.0 + lines * 230.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    put(&mut text, 20.0, 28.0, "start", 16, title);
    legend(&mut text);
    bars(&mut text, &groups);
    for (number, group) in groups.iter().enumerate() {
        let x = (number % 4) as f64 * (WIDTH / 4.0);
        let y = 100.0 + BARS + 60.0 + (number / 4) as f64 * 230.0;
        latencies(&mut text, group, x, y);
    }
    text.push_str("</svg>\n");
    text
}

fn put(text: &mut String, x: f64, y: f64, anchor: &str, size: u32, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        text,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{words}</text>"
    );
}

fn legend(text: &mut String) {
    let marks = [(HTTP, "through HTTP"), (BARE, "the same SQL, bare (pgbench)")];
    for (number, (colour, words)) in marks.into_iter().enumerate() {
        let x = 20.0 + 130.0 * number as f64;
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"44\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        );
        put(text, x + 18.0, 55.0, "start", 12, words);
    }
}

fn bars(text: &mut String, groups: &[Vec<&Cell>]) {
    let base = 90.0 + BARS;
    let most = groups
        .iter()
        .flatten()
        .map(|cell| cell.http.per_second.max(cell.bare.per_second))
        .fold(1.0, f64::max);
    put(text, LEFT, 82.0, "start", 12, "requests per second");
    for quarter in 1..=4_u8 {
        let share = f64::from(quarter) / 4.0;
        let y = base - share * (BARS - 20.0);
        let _ = writeln!(text, "<path d=\"M{LEFT} {y:.1}H{:.1}\" stroke=\"#ddd\"/>", WIDTH - 10.0);
        put(text, LEFT - 6.0, y + 4.0, "end", 11, &thousands(most * share));
    }
    let columns: usize = groups.iter().map(|group| group.len() + 1).sum();
    let step = (WIDTH - LEFT - 10.0) / columns.max(1) as f64;
    let mut x = LEFT + step / 2.0;
    for group in groups {
        let middle = x + step * group.len() as f64 / 2.0;
        for cell in group {
            let sides = [(&cell.http, HTTP), (&cell.bare, BARE)];
            for (number, (side, colour)) in sides.into_iter().enumerate() {
                let tall = side.per_second / most * (BARS - 20.0);
                let _ = writeln!(
                    text,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" \
                     fill=\"{colour}\"/>",
                    x + number as f64 * step * 0.42,
                    base - tall,
                    step * 0.4
                );
            }
            put(text, x + step * 0.42, base + 14.0, "middle", 10, &format!("{}", cell.clients));
            x += step;
        }
        put(text, middle, base + 32.0, "middle", 12, group[0].operation.name());
        x += step;
    }
    put(text, LEFT - 6.0, base + 14.0, "end", 10, "clients");
}

/// The median and the 99th percentile over the number of clients, on a logarithmic scale.
fn latencies(text: &mut String, group: &[&Cell], x: f64, y: f64) {
    let (left, width, tall) = (x + 50.0, WIDTH / 4.0 - 70.0, 150.0);
    put(
        text,
        left,
        y,
        "start",
        12,
        &format!("{}: ms, p50 and p99 (dashed)", group[0].operation.name()),
    );
    let all =
        || group.iter().flat_map(|c| [c.http.p50_ms, c.http.p99_ms, c.bare.p50_ms, c.bare.p99_ms]);
    let low = all().fold(f64::MAX, f64::min).max(0.01).log10().floor();
    let high = all().fold(0.01, f64::max).log10().ceil().max(low + 1.0);
    let place = |ms: f64| y + 15.0 + tall * (1.0 - (ms.max(0.01).log10() - low) / (high - low));
    let mut decade = low;
    while decade <= high {
        let at = place(10_f64.powf(decade));
        let _ = writeln!(text, "<path d=\"M{left:.1} {at:.1}h{width:.1}\" stroke=\"#ddd\"/>");
        put(text, left - 6.0, at + 4.0, "end", 10, &format!("{}", 10_f64.powf(decade)));
        decade += 1.0;
    }
    let step = width / group.len().saturating_sub(1).max(1) as f64;
    let lines: [(&str, &str, Figure); 4] = [
        (HTTP, "", |cell| cell.http.p50_ms),
        (HTTP, "5 3", |cell| cell.http.p99_ms),
        (BARE, "", |cell| cell.bare.p50_ms),
        (BARE, "5 3", |cell| cell.bare.p99_ms),
    ];
    for (colour, dashes, figure) in lines {
        let points: Vec<String> = group
            .iter()
            .enumerate()
            .map(|(i, cell)| format!("{:.1},{:.1}", left + step * i as f64, place(figure(cell))))
            .collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dashes}\"/>",
            points.join(" ")
        );
    }
    for (i, cell) in group.iter().enumerate() {
        let at = left + step * i as f64;
        put(text, at, y + tall + 30.0, "middle", 10, &cell.clients.to_string());
    }
}
