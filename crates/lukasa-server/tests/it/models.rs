//! Models for tests: scripted ones, whose failure mode a test can change, and the real small
//! embedder where its files are available.

use std::sync::Arc;

use lukasa_models::scripted::ScriptedChat;
pub use lukasa_models::scripted::TestModels;
pub use lukasa_models::scripted::extraction::{answer, proposed_memory};
use serde_json::Value;

/// The real small embedder, from the folder that `LUKASA_TEST_MODELS` names. `None` if the test
/// should skip; where the data is required, its absence is an error.
pub fn models_with_meaning() -> Option<Arc<TestModels>> {
    let folder = crate::required_data::folder("LUKASA_TEST_MODELS")?;
    Some(TestModels::of(lukasa_models::local::open(&folder.join("potion")).expect("potion opens")))
}

/// A chat model that proposes the same memories for every conversation.
pub fn proposing_chat(memories: Vec<Value>) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::saying(move |_| answer(&memories)))
}
