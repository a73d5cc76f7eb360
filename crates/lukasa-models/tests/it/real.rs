//! Real weights. They are not part of the repository: `LUKASA_TEST_MODELS` names the folder that
//! holds `potion` and `minilm`; without it these tests are skipped, or fail where it is required.

use std::sync::Arc;
use std::time::Instant;

use lukasa_core::model::Embedder;
use lukasa_models::local;

#[path = "../../../lukasa-core/tests/required_data/mod.rs"]
mod required_data;

fn real(short: &str) -> Option<Arc<dyn Embedder>> {
    let folder = required_data::folder("LUKASA_TEST_MODELS")?;
    // A folder that is named and does not hold the model is a mistake, not a reason to skip.
    Some(local::open(&folder.join(short)).unwrap())
}

async fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    embedder.embed(texts).await.unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

async fn behaves(embedder: &dyn Embedder) {
    let long = "a memory of something that happened ".repeat(10_000 / 6);
    let texts = [
        "I like the dark theme",
        "dark mode, please",
        "my grandmother's apple pie",
        "",
        " \n\t",
        "\u{1f9f6}\u{1f9f6}",
        long.as_str(),
    ];
    let vectors = embed(embedder, &texts).await;
    assert_eq!(vectors.len(), texts.len());
    for (text, vector) in texts.iter().zip(&vectors) {
        let text: String = text.chars().take(20).collect();
        assert_eq!(vector.len(), embedder.model().dimension, "{text:?}");
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-4, "{text:?} is not of length one");
    }

    let near = cosine(&vectors[0], &vectors[1]);
    let far = cosine(&vectors[0], &vectors[2]);
    assert!(near > far + 0.2, "a paraphrase at {near}, something else at {far}");

    // Neither the other texts of a batch nor their order may change a vector.
    for (text, vector) in texts.iter().zip(&vectors) {
        let alone = embed(embedder, &[text]).await;
        let same = cosine(&alone[0], vector);
        assert!(same > 0.9999, "{:?}: {same}", text.chars().take(20).collect::<String>());
    }
    assert!(embed(embedder, &[]).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn potion_embeds() {
    let Some(potion) = real("potion") else { return };
    assert_eq!(potion.model().name, "potion-base-8M");
    assert_eq!(potion.model().dimension, 256);
    assert!(potion.is_local());
    behaves(potion.as_ref()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn minilm_embeds() {
    let Some(minilm) = real("minilm") else { return };
    assert_eq!(minilm.model().name, "all-MiniLM-L6-v2");
    assert_eq!(minilm.model().dimension, 384);
    assert!(minilm.is_local());
    behaves(minilm.as_ref()).await;

    // The example on the model's page, with the published numbers.
    let texts = ["That is a happy person", "That is a happy dog", "Today is a sunny day"];
    let vectors = embed(minilm.as_ref(), &texts).await;
    let (dog, day) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    assert!((dog - 0.6945).abs() < 1e-3, "{dog}");
    assert!((day - 0.2569).abs() < 1e-3, "{day}");
}

#[tokio::test(flavor = "multi_thread")]
async fn minilm_keeps_order_of_many_texts() {
    let Some(minilm) = real("minilm") else { return };
    let texts: Vec<String> =
        (0..100).map(|n| format!("item {n} {}", "and so on ".repeat(n * 7 % 40))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed(minilm.as_ref(), &texts).await;
    for n in [0, 1, 17, 50, 99] {
        let alone = embed(minilm.as_ref(), &texts[n..=n]).await;
        assert!(cosine(&alone[0], &vectors[n]) > 0.9999, "text {n}");
    }
}

/// Measures a short sentence, printed with `--nocapture`; asserts only that a debug build has
/// optimised libraries.
#[tokio::test(flavor = "multi_thread")]
async fn short_sentence_is_embedded_quickly() {
    for (short, most_ms) in [("potion", 5.0), ("minilm", 200.0)] {
        let Some(embedder) = real(short) else { return };
        embed(embedder.as_ref(), &["warm up"]).await;
        let mut times = Vec::new();
        for n in 0..50 {
            let began = Instant::now();
            embed(embedder.as_ref(), &[&format!("I prefer the dark theme, number {n}")]).await;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        // The fastest run, since other work on the machine may slow the others down.
        let (best, middle) = (times[0], times[25]);
        let many: Vec<String> = (0..512).map(|n| format!("My sister moved to town {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let began = Instant::now();
        embed(embedder.as_ref(), &many).await;
        let rate = 512.0 / began.elapsed().as_secs_f64();
        eprintln!(
            "{short}: {best:.3} ms at best, {middle:.3} mostly, {rate:.0} a second in batches"
        );
        assert!(best < most_ms, "{short}: {best} ms");
    }
}
