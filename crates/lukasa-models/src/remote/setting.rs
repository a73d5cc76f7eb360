//! Parses the setting of a chat model: `MODEL@URL`, or with its price `MODEL@URL#IN/OUT`.
//!
//! The setting is never quoted in an error: an API key may have been put in the wrong place.

use std::str::FromStr;

use lukasa_core::model::{ModelError, Price};
use reqwest::Url;

use super::chat::ChatConfig;
use super::endpoint::ApiKey;

impl FromStr for ChatConfig {
    type Err = ModelError;

    fn from_str(setting: &str) -> Result<Self, ModelError> {
        let (place, price) = match setting.trim().split_once('#') {
            Some((place, price)) => (place, Some(price)),
            None => (setting.trim(), None),
        };
        // Some vendors' model names contain an `@`; a URL here does not.
        let (model, url) = place.rsplit_once('@').ok_or_else(|| {
            refuse("must be MODEL@URL, such as qwen3:8b@http://127.0.0.1:11434/v1")
        })?;
        if model.is_empty() {
            return Err(refuse("names no model before its @"));
        }
        let mut config = Self::new(url, model);
        if let Some(price) = price {
            config.price = parse_price(price).ok_or_else(|| {
                refuse(
                    "has a price that is not #IN/OUT, such as #0.15/0.60: currency units for a \
                     million tokens, with at most six decimals",
                )
            })?;
        }
        Ok(config)
    }
}

impl ChatConfig {
    /// Parses these settings and assigns the keys: as many keys as models, empty where a model
    /// needs none, or one key for models that are all at the same service. One key for several
    /// services is refused, because it would be sent to services it is not meant for.
    pub fn chain(settings: &[&str], keys: &[&str]) -> Result<Vec<Self>, ModelError> {
        let parsed: Result<Vec<Self>, _> = settings.iter().map(|text| text.parse()).collect();
        let mut chain = parsed?;
        let origin = |config: &Self| Url::parse(&config.base_url).ok().map(|url| url.origin());
        let one_service = chain.windows(2).all(|pair| origin(&pair[0]) == origin(&pair[1]));
        let key = |text: &str| Some(text.trim()).filter(|key| !key.is_empty()).map(ApiKey::new);
        match keys {
            [] => {}
            [one] if one_service => chain.iter_mut().for_each(|config| config.api_key = key(one)),
            each if each.len() == chain.len() => {
                chain.iter_mut().zip(each).for_each(|(config, one)| config.api_key = key(one));
            }
            _ => {
                let (models, keys) = (chain.len(), keys.len());
                return Err(ModelError::Missing(format!(
                    "the settings name {models} chat models and {keys} of their keys: set as many \
                     keys as models, in the same order, empty where a model needs none; one key \
                     alone is for models that are all at one service"
                )));
            }
        }
        Ok(chain)
    }
}

fn refuse(why: &str) -> ModelError {
    ModelError::Missing(format!("a chat model's setting {why}"))
}

fn parse_price(text: &str) -> Option<Price> {
    let (input, output) = text.split_once('/')?;
    Some(Price { input: millionths(input)?, output: millionths(output)? })
}

/// A decimal number in millionths, parsed without a float, so that 0.60 is exactly 600,000.
fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::millionths;

    #[test]
    fn price_is_parsed_exactly_or_refused() {
        for (text, value) in
            [("0", 0), ("0.15", 150_000), ("3", 3_000_000), ("1.000001", 1_000_001)]
        {
            assert_eq!(millionths(text), Some(value), "{text}");
        }
        for text in ["", ".", ".5", "5.", "-1", "+1", "1e3", "NaN", "0.0000001", "1,5", "1.2.3"] {
            assert_eq!(millionths(text), None, "{text}");
        }
        assert_eq!(millionths("99999999999999999999"), None);
        assert_eq!(millionths("18446744073709.551616"), None);
    }
}
