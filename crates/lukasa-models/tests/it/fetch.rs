//! Downloading a model from a hub, and from hubs that misbehave.

use std::path::Path;

use lukasa_core::model::ModelError;
use lukasa_models::local::catalogue::{KnownModel, ModelFile};
use lukasa_models::local::{Progress, fetch};

use crate::files::Folder;
use lukasa_models::scripted::server::{ScriptedResponse, ScriptedServer};

/// Small enough to keep here: `{}` and a hundred thousand times the letter `a`.
static TINY: KnownModel = KnownModel {
    short: "tiny",
    full: "tiny-1",
    dimension: 1,
    repository: "someone/tiny",
    revision: "abc",
    licence: "MIT",
    files: &[
        ModelFile {
            name: "config.json",
            bytes: 2,
            sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        },
        ModelFile {
            name: "model.safetensors",
            bytes: 100_000,
            sha256: "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee",
        },
    ],
};

fn weights() -> Vec<u8> {
    vec![b'a'; 100_000]
}

async fn hub(weights: impl Fn() -> ScriptedResponse + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::start(move |_, asked| match asked.line.as_str() {
        "GET /someone/tiny/resolve/abc/config.json HTTP/1.1" => ScriptedResponse::bytes(b"{}"),
        "GET /someone/tiny/resolve/abc/model.safetensors HTTP/1.1" => weights(),
        _ => ScriptedResponse::status(404),
    })
    .await
}

async fn get(folder: &Folder, hub: &ScriptedServer) -> Result<Vec<(String, u64, u64)>, ModelError> {
    let mut steps = Vec::new();
    let mut record = |step: Progress<'_>| {
        steps.push((step.file.to_owned(), step.bytes, step.of));
    };
    fetch(&TINY, folder.path(), Some(&hub.base), &mut record).await?;
    Ok(steps)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("tiny")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn model_is_downloaded_once_and_progress_is_reported() {
    let folder = Folder::new("fetch-well");
    let hub = hub(|| ScriptedResponse::bytes(&weights())).await;
    let steps = get(&folder, &hub).await.unwrap();
    assert_eq!(steps.last(), Some(&("model.safetensors".to_owned(), 100_002, 100_002)));
    assert!(steps.is_sorted_by_key(|step| step.1), "{steps:?}");
    assert_eq!(names(folder.path()), ["config.json", "model.safetensors"]);
    assert_eq!(std::fs::read(folder.path().join("tiny/model.safetensors")).unwrap(), weights());
    assert_eq!(hub.asked().len(), 2);

    get(&folder, &hub).await.unwrap();
    assert_eq!(hub.asked().len(), 2, "complete files are not downloaded again");

    // The right size and one wrong letter.
    let mut other = weights();
    other[50_000] = b'b';
    std::fs::write(folder.path().join("tiny/model.safetensors"), other).unwrap();
    get(&folder, &hub).await.unwrap();
    assert_eq!(hub.asked().len(), 3);
    assert_eq!(std::fs::read(folder.path().join("tiny/model.safetensors")).unwrap(), weights());
}

#[tokio::test]
async fn downloaded_file_with_wrong_hash_is_discarded() {
    let folder = Folder::new("fetch-planted");
    let planted = || {
        let mut other = weights();
        other[99_999] = b'b';
        ScriptedResponse::bytes(&other)
    };
    let error = get(&folder, &hub(planted).await).await.unwrap_err();
    assert!(matches!(&error, ModelError::Malformed(words) if words.contains("SHA-256")), "{error}");
    assert_eq!(names(folder.path()), ["config.json"]);
}

#[tokio::test]
async fn downloaded_file_with_wrong_size_is_refused() {
    for length in [99_999, 100_001, 0] {
        let folder = Folder::new("fetch-size");
        let hub = hub(move || ScriptedResponse::bytes(&vec![b'a'; length])).await;
        let error = get(&folder, &hub).await.unwrap_err();
        assert!(matches!(&error, ModelError::Malformed(_)), "{error}");
        assert_eq!(names(folder.path()), ["config.json"]);
    }
}

#[tokio::test]
async fn interrupted_download_leaves_nothing_and_can_be_repeated() {
    let folder = Folder::new("fetch-cut");
    let cut = hub(|| ScriptedResponse::bytes(&weights()).cut_off_after(60_000)).await;
    let error = get(&folder, &cut).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unavailable(_)), "{error}");
    assert_eq!(names(folder.path()), ["config.json"]);

    get(&folder, &hub(|| ScriptedResponse::bytes(&weights())).await).await.unwrap();
    assert_eq!(names(folder.path()), ["config.json", "model.safetensors"]);
}

#[tokio::test]
async fn download_error_names_http_status() {
    let folder = Folder::new("fetch-status");
    let error = get(&folder, &hub(|| ScriptedResponse::status(403)).await).await.unwrap_err();
    assert!(matches!(&error, ModelError::Missing(words) if words.contains("403")), "{error}");
    let error = get(&folder, &hub(|| ScriptedResponse::status(503)).await).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unavailable(words) if words.contains("503")), "{error}");
}

#[tokio::test]
async fn download_redirect_is_followed() {
    let folder = Folder::new("fetch-redirect");
    let store = ScriptedServer::start(|_, _| ScriptedResponse::bytes(&weights())).await;
    let target = format!("{}/bytes", store.base);
    let hub = hub(move || ScriptedResponse::status(302).header("location", &target)).await;
    get(&folder, &hub).await.unwrap();
    assert_eq!(store.asked().len(), 1);
}
