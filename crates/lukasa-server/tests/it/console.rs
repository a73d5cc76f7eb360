//! The console over HTTP: its files, their security headers, and paths that are never a page.

use lukasa_engine::Engine;
use lukasa_server::api::{App, AuthMode, Console};
use lukasa_server::http::router;

use crate::app::{Client, TestApp, serve};

/// A server whose console is in a folder, and a client for it.
async fn open_console(app: &TestApp, folder: &std::path::Path) -> Client {
    let engine = Engine::connect(&app.database.connect()).unwrap();
    let (base, _) =
        serve(router(App::new(engine, AuthMode::Keys).with_console(Console::folder(folder)))).await;
    app.anonymous().at(&base).with("accept", "text/html,*/*")
}

fn built() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("assets")).unwrap();
    for (name, text) in [
        ("index.html", "<!doctype html><title>Lukasa</title>"),
        ("assets/main-1a2b.js", "console.log(1)"),
        ("assets/main-1a2b.js.br", "packed"),
        (".secret", "no"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[tokio::test]
async fn console_pages_have_a_strict_content_security_policy() {
    let (app, folder) = (TestApp::with_keys().await, built());
    let browser = open_console(&app, folder.path()).await;
    for path in ["/", "/memory", "/memory/mem_x", "/sign-in"] {
        let page = browser.get(path).await.expect(200);
        assert!(page.text().contains("<title>Lukasa</title>"), "{path}");
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'")
        );
        assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    }
    let script = browser.get("/assets/main-1a2b.js").await.expect(200);
    assert_eq!(script.text(), "console.log(1)");
    assert!(script.header("cache-control").unwrap().contains("immutable"));
    let packed = browser.with("accept-encoding", "gzip, br").get("/assets/main-1a2b.js").await;
    assert_eq!((packed.text().as_str(), packed.header("content-encoding")), ("packed", Some("br")));
    let known = browser.with("if-none-match", script.header("etag").unwrap());
    known.get("/assets/main-1a2b.js").await.expect(304);
}

#[tokio::test]
async fn console_pages_are_not_served_for_api_requests() {
    let (app, folder) = (TestApp::with_keys().await, built());
    let browser = open_console(&app, folder.path()).await;
    for path in ["/api/nothing", "/api", "/mem0/nothing", "/receipts/x"] {
        let answer = browser.get(path).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{path}");
    }
    // In the format of chat clients.
    let answer = browser.get("/v1/nothing").await.expect(404);
    assert_eq!(answer.at("/error/code"), "not_found");
    for path in
        ["/assets/gone.js", "/favicon.png", "/.secret", "/../Cargo.toml", "/assets/%2e%2e/.secret"]
    {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    browser.call("POST", "/memory", None).await.refused(404, "not_found");
    let program = browser.with("accept", "application/json");
    program.get("/memory").await.refused(404, "not_found");
}

#[tokio::test]
async fn missing_console_build_error_names_the_command() {
    let (app, folder) = (TestApp::with_keys().await, tempfile::tempdir().unwrap());
    let page = open_console(&app, folder.path()).await.get("/").await.expect(200);
    assert!(page.text().contains("npm run build"), "{}", page.text());
    assert!(page.header("content-security-policy").is_some());
}

#[tokio::test]
async fn cross_site_link_opens_only_the_local_console_page() {
    let app = TestApp::local().await;
    let elsewhere =
        app.anonymous().with("sec-fetch-site", "cross-site").with("accept", "text/html");
    elsewhere.get("/memory").await.expect(200);
    elsewhere.get("/api/memory").await.refused(403, "cross_site");
    elsewhere.with("host", "evil.example").get("/memory").await.refused(403, "cross_site");
}

#[tokio::test]
async fn docs_pages_describe_every_operation_and_load_nothing() {
    let app = TestApp::with_keys().await;
    let reference = app.anonymous().get("/docs").await.expect(200);
    let errors = app.anonymous().get("/docs/errors").await.expect(200);
    for page in [&reference, &errors] {
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        let text = page.text();
        for loaded in ["<script", "<img", "<link", "src=", "href=\"http", "url("] {
            assert!(!text.contains(loaded), "{loaded}");
        }
    }
    let document = serde_json::to_value(lukasa_server::http::document()).unwrap();
    let text = reference.text();
    let mut count = 0;
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            let Some(id) = operation["operationId"].as_str() else { continue };
            assert!(text.contains(&format!("<h3 id=\"{id}\">")), "{id}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} operations");
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("<h3 id=\"type-{name}\">")), "{name}");
    }
    // The type of a problem is the address of its description.
    let problem = app.anonymous().get("/api/memory").await.refused(401, "unauthenticated");
    let address = problem.at("/type");
    let anchor = address.strip_prefix("/docs/errors#").expect("a description");
    assert!(errors.text().contains(&format!("id=\"{anchor}\"")), "{anchor}");
    app.anonymous().get("/docs/nothing").await.refused(404, "not_found");
}
