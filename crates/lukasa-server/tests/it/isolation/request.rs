//! Builds requests from the rows of the table: method and path come from the OpenAPI document, ids
//! from their owners.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::table::{Place, Row, Use};
use super::things::Thing;
use crate::app::{Answer, Client};

/// Method, path and description of an operation in the document.
#[derive(Debug, Clone)]
pub struct Route {
    pub method: String,
    pub path: String,
    /// The operation object of the document.
    pub about: Value,
}

/// Every operation of the document, by its id.
pub fn routes(document: &Value) -> BTreeMap<String, Route> {
    const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];
    let mut routes = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, about) in item.as_object().expect("a path item") {
            if METHODS.contains(&method.as_str()) {
                let id = about["operationId"].as_str().expect("an operationId").to_owned();
                let method = method.to_uppercase();
                let route = Route { method, path: path.clone(), about: about.clone() };
                assert!(routes.insert(id, route).is_none(), "an operationId is unique");
            }
        }
    }
    routes
}

/// A request under construction.
#[derive(Debug, Clone, Default)]
pub struct RequestBuilder {
    path: BTreeMap<&'static str, String>,
    query: BTreeMap<&'static str, String>,
    headers: BTreeMap<&'static str, String>,
    body: Option<Value>,
}

impl RequestBuilder {
    /// The row's request, with every given resource taken from `own`.
    pub fn of(row: &Row, own: impl Fn(Thing) -> String) -> Self {
        let body = row.body.map(|text| serde_json::from_str(text).expect("JSON"));
        let given = row.fields.iter().filter(|field| matches!(field.used, Use::Given | Use::Fixed));
        given.fold(Self { body, ..Self::default() }, |asking, field| {
            asking.with(field.place, &own(field.thing))
        })
    }

    /// The same with `value` in one place, instead of the earlier value.
    pub fn with(mut self, place: Place, value: &str) -> Self {
        match place {
            Place::Path(name) => drop(self.path.insert(name, escaped(value))),
            Place::Query(name) => drop(self.query.insert(name, escaped(value))),
            Place::Header("If-Match") => {
                drop(self.headers.insert("If-Match", format!("\"{value}\"")));
            }
            Place::Header(name) => drop(self.headers.insert(name, value.to_owned())),
            Place::Body(name) => {
                let body = self.body.get_or_insert_with(|| json!({}));
                let one: Value = if name.ends_with("[]") { json!([value]) } else { value.into() };
                let keys = name.trim_end_matches("[]").split('.');
                *keys.fold(body, |at, key| match key.parse::<usize>() {
                    Ok(place) => &mut at[place],
                    Err(_) => &mut at[key],
                }) = one;
            }
        }
        self
    }

    pub async fn send(&self, client: &Client, route: &Route) -> Answer {
        let part = |path: String, (name, value): (&&str, &String)| {
            path.replace(&format!("{{{name}}}"), value)
        };
        let mut path = self.path.iter().fold(route.path.clone(), part);
        assert!(!path.contains('{'), "{path} has a part that no field gives");
        for (name, value) in &self.query {
            let joint = if path.contains('?') { '&' } else { '?' };
            path.push_str(&format!("{joint}{name}={value}"));
        }
        let dressed = self.headers.iter();
        let client = dressed.fold(client.clone(), |client, (name, value)| client.with(name, value));
        client.call(&route.method, &path, self.body.clone()).await
    }
}

fn escaped(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    let escape = |b: u8| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") };
    text.bytes().map(escape).collect()
}
