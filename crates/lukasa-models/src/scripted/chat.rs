//! A chat model that says what a closure tells it to say.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use lukasa_core::model::{
    Answer, Chat, ChatAnswer, ChatAsk, Finish, Heard, ModelError, Price, TokensUsed,
};

type Script = dyn Fn(&ChatAsk) -> Result<ChatAnswer, ModelError> + Send + Sync;

/// Answers in this process, and remembers what it was asked.
pub struct ScriptedChat {
    name: String,
    price: Price,
    script: Box<Script>,
    asks: Mutex<Vec<ChatAsk>>,
}

impl ScriptedChat {
    pub fn new(
        script: impl Fn(&ChatAsk) -> Result<ChatAnswer, ModelError> + Send + Sync + 'static,
    ) -> Self {
        let (name, price) = ("scripted".to_owned(), Price::default());
        Self { name, price, script: Box::new(script), asks: Mutex::default() }
    }

    /// One that answers every question with the words the closure finds for it.
    pub fn saying(words: impl Fn(&ChatAsk) -> String + Send + Sync + 'static) -> Self {
        Self::new(move |ask| {
            let text = words(ask);
            let tokens = TokensUsed::estimated(ask, &text);
            Ok(ChatAnswer { text, tokens, finish: Finish::Stop })
        })
    }

    /// One that is never there.
    pub fn failing() -> Self {
        Self::new(|_| Err(ModelError::Unavailable("scripted to fail".to_owned())))
    }

    /// As if it were another model.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    #[must_use]
    pub fn priced(mut self, price: Price) -> Self {
        self.price = price;
        self
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// What it was asked, in order.
    pub fn asks(&self) -> Vec<ChatAsk> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for ScriptedChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptedChat({}, asked {} times)", self.name, self.asked())
    }
}

impl Chat for ScriptedChat {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Price {
        self.price
    }

    fn answer<'a>(
        &'a self,
        ask: &'a ChatAsk,
        heard: Option<&'a Heard<'a>>,
    ) -> Answer<'a, ChatAnswer> {
        Box::pin(async move {
            self.asks.lock().unwrap_or_else(PoisonError::into_inner).push(ask.clone());
            let answer = (self.script)(ask)?;
            if let Some(heard) = heard {
                answer.text.split_inclusive(' ').for_each(heard);
            }
            Ok(answer)
        })
    }
}
