//! BERT encoders: from the ids of tokens to one vector for each text, on the processor.
//!
//! Texts of a batch are put one after the other instead of being padded to one length. Weights are packed
//! when a model is opened, in the order in which a product reads them, so that a sentence reads each
//! of them once. The vector instructions of the processor are found out when the program runs.

mod encoder;
mod kernel;
mod weights;

pub use encoder::{Encoder, EncoderConfig, Pooling};
