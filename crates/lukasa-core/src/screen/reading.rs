//! One text under all the screens. Folding a text and cutting it into words costs more than most of
//! the questions asked of it, and the same sentence carries many proposals, so a text is read once
//! and each question answered once. This room asks; what the answers are is said where the rules are.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::phrase::Heard;
use super::{Sensitive, directive, person, secret, sensitive};

/// A text, and what the screens say of it, as far as they were asked.
#[derive(Debug)]
pub struct Reading {
    text: String,
    heard: OnceCell<Heard>,
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
            heard: OnceCell::new(),
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

    fn heard(&self) -> &Heard {
        self.heard.get_or_init(|| Heard::new(&self.text))
    }

    /// Whether it holds a secret, or the place of one that was taken out.
    pub fn has_secret(&self) -> bool {
        *self.secret.get_or_init(|| {
            self.text.contains(secret::PLACEHOLDER) || secret::has_secret(&self.text)
        })
    }

    /// See [`directive::is_directive`].
    pub fn orders(&self) -> bool {
        *self.orders.get_or_init(|| directive::orders(&self.text, self.heard()))
    }

    /// See [`directive::commands`].
    pub fn commands(&self) -> bool {
        *self.commands.get_or_init(|| directive::stands(&self.text, self.heard()))
    }

    /// See [`directive::only_requests`].
    pub fn only_requests(&self) -> bool {
        *self.requests.get_or_init(|| directive::requests(&self.text, self.heard()))
    }

    /// Whether it states nothing: it only asks, or orders what is to be done now, and lets nobody act.
    pub fn states_nothing(&self) -> bool {
        let asks = || directive::questions(self.heard());
        self.orders() && (asks() || (self.only_requests() && !self.authorises()))
    }

    /// See [`directive::authorises`].
    pub fn authorises(&self) -> bool {
        *self.authorises.get_or_init(|| directive::allows(self.heard()))
    }

    /// See [`directive::speaks_of_a_user`].
    pub fn speaks_of_a_user(&self) -> bool {
        *self.of_a_user.get_or_init(|| directive::of_a_user(self.heard()))
    }

    /// See [`person::speaks_of_self`].
    pub fn speaks_of_self(&self) -> bool {
        *self.of_self.get_or_init(|| person::of_self(&self.text, self.heard()))
    }

    /// See [`sensitive::category`].
    pub fn sensitive(&self) -> Option<Sensitive> {
        *self.sensitive.get_or_init(|| sensitive::told(self.heard()))
    }
}

/// The texts that were read, each once.
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
    fn a_reading_says_what_the_screens_say() {
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
    fn the_same_text_is_read_once() {
        let readings = Readings::default();
        assert!(Rc::ptr_eq(&readings.of("I ski"), &readings.of("I ski")));
        assert!(!Rc::ptr_eq(&readings.of("I ski"), &readings.of("I swim")));
    }
}
