//! The scripted models behave as other tests rely on.

use std::time::{Duration, Instant};

use lukasa_core::model::{Embedder, ModelError, Reranker};
use lukasa_models::scripted::{ScriptedBehavior, ScriptedModel};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[tokio::test]
async fn scripted_embedder_places_texts_with_shared_words_near_each_other() {
    let model = ScriptedModel::local(64);
    let texts = ["I like the dark theme", "the dark theme, please", "apple pie", ""];
    let vectors = model.embed(&texts).await.unwrap();
    for vector in &vectors {
        assert_eq!(vector.len(), 64);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.3);
    assert_eq!(vectors, ScriptedModel::remote(64).embed(&texts).await.unwrap());
    let scores = model.rerank("dark theme?", &texts).await.unwrap();
    assert!(scores[1] > scores[2], "{scores:?}");
    assert_eq!(model.asked(), 2);
}

#[tokio::test]
async fn scripted_model_behavior_applies_until_changed() {
    let model = ScriptedModel::remote(8).named("other");
    assert_eq!((model.model().name.as_str(), model.is_local()), ("other", false));
    model.set_behavior(ScriptedBehavior::Failing);
    assert!(matches!(model.embed(&["a"]).await, Err(ModelError::Unavailable(_))));
    assert!(matches!(model.rerank("a", &["a"]).await, Err(ModelError::Unavailable(_))));
    model.set_behavior(ScriptedBehavior::Malformed);
    assert!(matches!(model.embed(&["a"]).await, Err(ModelError::Malformed(_))));
    model.set_behavior(ScriptedBehavior::Short);
    let vectors = model.embed(&["a", "b"]).await.unwrap();
    assert_eq!((vectors.len(), vectors[0].len()), (1, 7));
    assert_eq!(model.rerank("a", &["a", "b"]).await.unwrap().len(), 1);
    model.set_behavior(ScriptedBehavior::Slow(Duration::from_millis(50)));
    let began = Instant::now();
    assert_eq!(model.embed(&["a"]).await.unwrap()[0].len(), 8);
    assert!(began.elapsed() >= Duration::from_millis(50));
}
