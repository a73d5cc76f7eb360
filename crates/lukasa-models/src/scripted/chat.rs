//! A chat model whose answers come from a closure.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use lukasa_core::model::{
    Chat, ChatAnswer, ChatRequest, Finish, ModelError, ModelFuture, Price, TextListener, TokensUsed,
};

type Script = dyn Fn(&ChatRequest) -> Result<ChatAnswer, ModelError> + Send + Sync;

/// A chat model in this process that records the requests it got.
pub struct ScriptedChat {
    name: String,
    price: Price,
    script: Box<Script>,
    asks: Mutex<Vec<ChatRequest>>,
}

impl ScriptedChat {
    pub fn new(
        script: impl Fn(&ChatRequest) -> Result<ChatAnswer, ModelError> + Send + Sync + 'static,
    ) -> Self {
        let (name, price) = ("scripted".to_owned(), Price::default());
        Self { name, price, script: Box::new(script), asks: Mutex::default() }
    }

    /// One that answers every request with the text the closure returns.
    pub fn saying(words: impl Fn(&ChatRequest) -> String + Send + Sync + 'static) -> Self {
        Self::new(move |ask| {
            let text = words(ask);
            let tokens = TokensUsed::estimated(ask, &text);
            Ok(ChatAnswer { text, tokens, finish: Finish::Stop })
        })
    }

    /// One that always fails with `Unavailable`.
    pub fn failing() -> Self {
        Self::new(|_| Err(ModelError::Unavailable("scripted to fail".to_owned())))
    }

    /// Sets the model's name.
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

    /// How often it was called.
    pub fn asked(&self) -> usize {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The requests it got, in order.
    pub fn asks(&self) -> Vec<ChatRequest> {
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
        ask: &'a ChatRequest,
        listener: Option<&'a TextListener<'a>>,
    ) -> ModelFuture<'a, ChatAnswer> {
        Box::pin(async move {
            self.asks.lock().unwrap_or_else(PoisonError::into_inner).push(ask.clone());
            let answer = (self.script)(ask)?;
            if let Some(listener) = listener {
                answer.text.split_inclusive(' ').for_each(listener);
            }
            Ok(answer)
        })
    }
}
