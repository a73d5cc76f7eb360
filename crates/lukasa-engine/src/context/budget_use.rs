//! The tokens that memory takes in a prompt, and their cost.

use lukasa_core::model::{Models, TokensUsed};

/// Token budget and its use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetUse {
    pub limit: usize,
    /// The context window of the model, if the request names it.
    pub window: Option<usize>,
    pub baseline: usize,
    pub dynamic: usize,
    /// The cost of these tokens as input of the first chat model, in millionths of the currency of
    /// its price; `None` without a price (R211).
    pub cost_micros: Option<u64>,
}

impl BudgetUse {
    /// Sets the cost, from the price of the first chat model.
    pub(super) fn set_cost(&mut self, models: &dyn Models) {
        let price = models.chats().first().map(|chat| chat.price()).filter(|p| p.input > 0);
        let input = u32::try_from(self.baseline + self.dynamic).unwrap_or(u32::MAX);
        self.cost_micros = price.map(|price| price.of(TokensUsed { input, output: 0 }));
    }
}
