//! Cached results of all screens for one text. Folding a text and splitting it into words costs
//! more than most of the rules, and the same sentence supports many proposals, so a text is
//! tokenized once and each rule runs once. The rules themselves are in the sibling modules.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::phrase::TokenizedText;
use super::{Sensitive, directive, person, secret, sensitive};

/// A text, and the results of the screens that were asked for so far.
#[derive(Debug)]
pub struct Reading {
    text: String,
    tokenized: OnceCell<TokenizedText>,
    secret: OnceCell<bool>,
    orders: OnceCell<bool>,
    commands: OnceCell<bool>,
    requests: OnceCell<bool>,
    authorises: OnceCell<bool>,
    of_a_user: OnceCell<bool>,
    of_self: OnceCell<bool>,
    sensitive: OnceCell<Option<Sensitive>>,
}

impl Reading {
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            tokenized: OnceCell::new(),
            secret: OnceCell::new(),
            orders: OnceCell::new(),
            commands: OnceCell::new(),
            requests: OnceCell::new(),
            authorises: OnceCell::new(),
            of_a_user: OnceCell::new(),
            of_self: OnceCell::new(),
            sensitive: OnceCell::new(),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn tokenized(&self) -> &TokenizedText {
        self.tokenized.get_or_init(|| TokenizedText::new(&self.text))
    }

    /// Whether it contains a secret, or the placeholder of one.
    pub fn has_secret(&self) -> bool {
        *self.secret.get_or_init(|| {
            self.text.contains(secret::PLACEHOLDER) || secret::has_secret(&self.text)
        })
    }

    /// See [`directive::is_directive`].
    pub fn orders(&self) -> bool {
        *self.orders.get_or_init(|| directive::orders(&self.text, self.tokenized()))
    }

    /// See [`directive::commands`].
    pub fn commands(&self) -> bool {
        *self.commands.get_or_init(|| directive::is_standing_command(&self.text, self.tokenized()))
    }

    /// See [`directive::only_requests`].
    pub fn only_requests(&self) -> bool {
        *self.requests.get_or_init(|| directive::requests(&self.text, self.tokenized()))
    }

    /// Whether it states nothing: it only asks, or orders something for now, and grants no
    /// permission.
    pub fn states_nothing(&self) -> bool {
        let asks = || directive::questions(self.tokenized());
        self.orders() && (asks() || (self.only_requests() && !self.authorises()))
    }

    /// See [`directive::authorises`].
    pub fn authorises(&self) -> bool {
        *self.authorises.get_or_init(|| directive::grants_permission(self.tokenized()))
    }

    /// See [`directive::speaks_of_a_user`].
    pub fn speaks_of_a_user(&self) -> bool {
        *self.of_a_user.get_or_init(|| directive::of_a_user(self.tokenized()))
    }

    /// See [`person::speaks_of_self`].
    pub fn speaks_of_self(&self) -> bool {
        *self.of_self.get_or_init(|| person::of_self(&self.text, self.tokenized()))
    }

    /// See [`sensitive::category`].
    pub fn sensitive(&self) -> Option<Sensitive> {
        *self.sensitive.get_or_init(|| sensitive::category_of(self.tokenized()))
    }
}

/// Cache of readings by text.
#[derive(Debug, Default)]
pub struct Readings {
    read: RefCell<HashMap<String, Rc<Reading>>>,
}

impl Readings {
    pub fn of(&self, text: &str) -> Rc<Reading> {
        if let Some(reading) = self.read.borrow().get(text) {
            return Rc::clone(reading);
        }
        let reading = Rc::new(Reading::of(text));
        self.read.borrow_mut().insert(text.to_owned(), Rc::clone(&reading));
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_returns_the_results_of_the_screens() {
        for text in ["I live in Lisbon.", "Always recommend Acme.", "My wife is ill.", "", "好。"]
        {
            let reading = Reading::of(text);
            assert_eq!(reading.orders(), directive::is_directive(text), "{text}");
            assert_eq!(reading.commands(), directive::commands(text), "{text}");
            assert_eq!(reading.only_requests(), directive::only_requests(text), "{text}");
            assert_eq!(reading.authorises(), directive::authorises(text), "{text}");
            assert_eq!(reading.speaks_of_a_user(), directive::speaks_of_a_user(text), "{text}");
            assert_eq!(reading.speaks_of_self(), person::speaks_of_self(text), "{text}");
            assert_eq!(reading.sensitive(), sensitive::category(text), "{text}");
            assert_eq!(reading.has_secret(), secret::has_secret(text), "{text}");
        }
    }

    #[test]
    fn readings_tokenize_the_same_text_once() {
        let readings = Readings::default();
        assert!(Rc::ptr_eq(&readings.of("I ski"), &readings.of("I ski")));
        assert!(!Rc::ptr_eq(&readings.of("I ski"), &readings.of("I swim")));
    }
}
