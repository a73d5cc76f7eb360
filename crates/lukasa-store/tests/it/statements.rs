//! Every SQL statement of the store, read from its source: each can be prepared on the migrated
//! schema, may be run by the serving role, and reads the rows of one user through an index.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lukasa_store::tables::USER_TABLES;
use lukasa_store::testing::TestDatabase;
use lukasa_store::testing::postgres::{Client, SimpleQueryMessage};
use serde_json::Value;
use syn::visit::{self, Visit};
use uuid::Uuid;

/// Modules whose statements are run by the owner of the database, not by the serving role.
const OWNER_MODULES: [&str; 7] =
    ["audit_retention", "cell_admin", "database", "migrate", "mover", "rotation", "scrub"];

/// A partial index that has few rows whatever the number of users: unfinished erasures.
const SMALL_INDEX: (&str, &str) = ("erasure", "(finished_at IS NULL)");

/// A statement with its module and line.
struct Statement {
    module: String,
    line: usize,
    sql: String,
}

impl Statement {
    fn place(&self) -> String {
        format!("{}.rs:{}", self.module, self.line)
    }

    /// Whether the statement is meant for the rows of one user. The two lists of a tenant's rows that
    /// name a user may also be asked for all of them.
    fn is_for_one_user(&self) -> bool {
        let is_optional = self.sql.contains("is null or user_id = $");
        self.sql.contains("user_id = $") && !is_optional
    }
}

/// Collects the statements of one module. A `concat!` is evaluated; text that `format!` builds is
/// left out.
struct Collector<'m> {
    module: String,
    macros: &'m BTreeMap<String, String>,
    found: Vec<Statement>,
}

impl Collector<'_> {
    fn add(&mut self, line: usize, sql: String) {
        const VERBS: [&str; 6] = ["select ", "insert ", "update ", "delete ", "with ", "merge "];
        let lower = sql.trim_start().to_lowercase();
        if VERBS.iter().any(|verb| lower.starts_with(verb)) {
            self.found.push(Statement { module: self.module.clone(), line, sql });
        }
    }
}

impl<'a> Visit<'a> for Collector<'_> {
    fn visit_lit_str(&mut self, literal: &'a syn::LitStr) {
        self.add(literal.span().start().line, literal.value());
    }

    fn visit_macro(&mut self, found: &'a syn::Macro) {
        if found.path.is_ident("concat")
            && let Some(text) = concatenated(found, self.macros)
        {
            let line = found.path.segments[0].ident.span().start().line;
            self.add(line, text);
        }
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }
}

/// The text of an expression made of literals, `concat!` and macros without arguments.
fn text_of(expression: &syn::Expr, macros: &BTreeMap<String, String>) -> Option<String> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
            Some(number.base10_digits().to_owned())
        }
        syn::Expr::Macro(found) if found.mac.path.is_ident("concat") => {
            concatenated(&found.mac, macros)
        }
        syn::Expr::Macro(found) => {
            let name = found.mac.path.segments.last()?.ident.to_string();
            macros.get(&name).cloned()
        }
        _ => None,
    }
}

fn concatenated(found: &syn::Macro, macros: &BTreeMap<String, String>) -> Option<String> {
    let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
    let parts = found.parse_body_with(parser).ok()?;
    parts.iter().map(|part| text_of(part, macros)).collect()
}

/// The text of a `macro_rules!` with one rule that takes nothing.
fn text_macro(
    item: &syn::ItemMacro,
    macros: &BTreeMap<String, String>,
) -> Option<(String, String)> {
    let name = item.ident.as_ref()?.to_string();
    let mut tokens = item.mac.tokens.clone().into_iter();
    let is_empty = tokens.next()?.to_string() == "()";
    let body = tokens.nth(2)?;
    let proc_macro2::TokenTree::Group(body) = body else { return None };
    let expression = syn::parse2::<syn::Expr>(body.stream()).ok()?;
    is_empty.then_some(())?;
    Some((name, text_of(&expression, macros)?))
}

/// The text macros that are made from the list in `version_row!`: its columns and its parameters.
fn row_macros(item: &syn::ItemMacro) -> Option<[(String, String); 2]> {
    fn collect(tokens: proc_macro2::TokenStream, texts: &mut Vec<String>) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => collect(group.stream(), texts),
                proc_macro2::TokenTree::Literal(literal) => {
                    texts.extend(
                        syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|t| t.value()).ok(),
                    );
                }
                _ => {}
            }
        }
    }
    item.ident.as_ref().filter(|name| *name == "version_row")?;
    let mut texts = Vec::new();
    collect(item.mac.tokens.clone(), &mut texts);
    let (parameters, columns): (Vec<_>, Vec<_>) =
        texts.into_iter().partition(|text| text.starts_with('$'));
    let macros = [("version_columns", columns), ("version_parameters", parameters)];
    Some(macros.map(|(name, texts)| (name.to_owned(), texts.join(", "))))
}

fn parsed_modules(folder: &Path) -> Vec<(String, syn::File)> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name != "testing" && path.is_dir() {
            modules.extend(parsed_modules(&path));
        } else if name != "testing" {
            modules.push((name, syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap()));
        }
    }
    modules.sort_by(|a, b| a.0.cmp(&b.0));
    modules
}

fn statements_of(modules: &[(String, syn::File)]) -> Vec<Statement> {
    let mut macros = BTreeMap::new();
    // A macro may use one that is defined in a later file.
    for _ in 0..3 {
        for (_, file) in modules {
            for item in &file.items {
                if let syn::Item::Macro(item) = item {
                    macros.extend(row_macros(item).into_iter().flatten());
                    macros.extend(text_macro(item, &macros));
                }
            }
        }
    }
    let mut found = Vec::new();
    for (module, file) in modules {
        let mut collector =
            Collector { module: module.clone(), macros: &macros, found: Vec::new() };
        collector.visit_file(file);
        found.append(&mut collector.found);
    }
    found
}

fn statements() -> Vec<Statement> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let found = statements_of(&parsed_modules(&folder));
    assert!(found.len() > 300, "only {} statements were found", found.len());
    found
}

/// The plan as the planner makes it for unknown parameters. It also checks the role's permissions.
async fn plan(client: &Client, sql: &str) -> Result<Value, String> {
    let explain = format!("explain (generic_plan, format json) {sql}");
    let messages = client.simple_query(&explain).await.map_err(|e| match e.as_db_error() {
        Some(e) => e.message().to_owned(),
        None => e.to_string(),
    })?;
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    serde_json::from_str(text.unwrap()).map_err(|e| e.to_string())
}

/// The scans of user tables in a plan that are not by an index condition on the user.
fn scans_without_user(plan: &Value, found: &mut Vec<String>) {
    if let Some(table) = plan["Relation Name"].as_str()
        && USER_TABLES.contains(&table)
        && plan["Node Type"] != "ModifyTable"
    {
        let text = |key: &str| plan[key].as_str().unwrap_or_default();
        let condition = format!("{} {}", text("Index Cond"), text("Recheck Cond"));
        let is_small = (table, condition.trim()) == SMALL_INDEX;
        if !is_small && !condition.contains("user_id =") {
            found.push(format!("{} of {table} with condition `{condition}`", text("Node Type")));
        }
    }
    match plan {
        Value::Array(items) => items.iter().for_each(|item| scans_without_user(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| scans_without_user(item, found)),
        _ => {}
    }
}

/// A connection with the serving role for one user. Sequential scans are disabled, so that one
/// remains in a plan only where no index can be used.
async fn serving(database: &TestDatabase) -> Client {
    let client = database.admin().await;
    let (tenant, user) = (Uuid::nil(), Uuid::nil());
    let settings = format!(
        "set role lukasa_serve; set app.tenant = '{tenant}'; set app.user_id = '{user}'; \
         set enable_seqscan = off"
    );
    client.batch_execute(&settings).await.unwrap();
    client
}

#[tokio::test]
async fn every_statement_can_be_prepared_on_the_migrated_schema() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let mut faults = Vec::new();
    for statement in statements() {
        if let Err(e) = admin.prepare(&statement.sql).await {
            let e = e.as_db_error().map_or_else(|| e.to_string(), |e| e.message().to_owned());
            faults.push(format!("{}: {e}\n{}", statement.place(), statement.sql));
        }
    }
    assert!(faults.is_empty(), "{} statements:\n{}", faults.len(), faults.join("\n"));
    assert!(admin.prepare("select planted from fact where user_id = $1").await.is_err());
}

#[tokio::test]
async fn every_statement_for_one_user_reads_through_an_index_on_the_user() {
    let database = TestDatabase::fresh().await;
    let serving = serving(&database).await;
    let (mut faults, mut checked) = (Vec::new(), 0);
    for statement in statements() {
        if OWNER_MODULES.contains(&statement.module.as_str()) {
            continue;
        }
        let plan = match plan(&serving, &statement.sql).await {
            Ok(plan) => plan,
            Err(e) => {
                faults.push(format!("{}: {e}", statement.place()));
                continue;
            }
        };
        if statement.is_for_one_user() {
            checked += 1;
            let mut found = Vec::new();
            scans_without_user(&plan, &mut found);
            faults.extend(found.into_iter().map(|scan| format!("{}: {scan}", statement.place())));
        }
    }
    assert!(checked > 200, "only {checked} statements were checked");
    assert!(faults.is_empty(), "{} found:\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test]
async fn planted_scan_of_all_users_is_detected() {
    let database = TestDatabase::fresh().await;
    let serving = serving(&database).await;
    let planted = [
        "select * from fact_version where user_id::text = $1::text",
        "select * from operation where recorded_at > $1",
    ];
    for sql in planted {
        // Row-level security would add the condition on the user.
        let admin = database.admin().await;
        admin.batch_execute("set enable_seqscan = off").await.unwrap();
        let mut found = Vec::new();
        scans_without_user(&plan(&admin, sql).await.unwrap(), &mut found);
        assert_eq!(found.len(), 1, "{sql}");
    }
    assert!(plan(&serving, "select * from pg_authid").await.is_err());
}

#[test]
fn statements_are_collected_from_literals_and_concatenations() {
    let source = r#"
        macro_rules! names { () => { "a, b" }; }
        macro_rules! version_row { () => { [ fact: "c" = "$1"; ] [ valid: "d" = "$2", "e" = "$3"; ] }; }
        /// Select nothing.
        const A: &str = concat!("select ", names!(), " from t");
        const V: &str = concat!("insert ", version_columns!(), ": ", version_parameters!());
        fn f() { g.query("delete from t where user_id = $1", &[]); h("other text") }
        mod tests { const B: &str = "select 1"; }
    "#;
    let modules = [("m".to_owned(), syn::parse_file(source).unwrap())];
    let found = statements_of(&modules);
    let texts: Vec<&str> = found.iter().map(|statement| statement.sql.as_str()).collect();
    assert_eq!(
        texts,
        ["select a, b from t", "insert c, d, e: $1, $2, $3", "delete from t where user_id = $1"]
    );
    assert_eq!((found[0].place(), found[2].is_for_one_user()), ("m.rs:5".to_owned(), true));
}
