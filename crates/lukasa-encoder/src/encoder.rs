//! The layers of an encoder, and a pass through them.

use pulp::{Arch, Simd, WithSimd};
use serde::Deserialize;

use crate::kernel::{self, Columns, Panels, Target};
use crate::weights::Weights;

/// What is read of a model's configuration.
#[derive(Debug, Clone, Deserialize)]
pub struct EncoderConfig {
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    /// The longest text, in tokens.
    pub max_position_embeddings: usize,
    pub type_vocab_size: usize,
    pub vocab_size: usize,
    pub layer_norm_eps: f32,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// How the vectors of the tokens are combined into one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pooling {
    Mean,
    First,
}

/// An encoder with its weights.
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    arch: Arch,
    /// Width of the panels, which depends on the instructions of `arch`.
    width: usize,
    words: Vec<f32>,
    positions: Vec<f32>,
    /// Added to every token: texts are not compared in pairs, so all have the first type.
    kind: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    /// Query, key and value side by side.
    attention: Panels,
    attention_output: Panels,
    attention_norm: Norm,
    widening: Panels,
    narrowing: Panels,
    norm: Norm,
}

impl Encoder {
    /// Reads the weights from the bytes of a `safetensors` file.
    pub fn open(config: EncoderConfig, file: &[u8]) -> Result<Self, String> {
        config.check()?;
        let arch = Arch::new();
        let width = arch.dispatch(PanelWidth);
        let weights = Weights::read(file)?;
        let size = config.hidden_size;
        let embeddings = |name: &str, rows: usize| {
            weights.take(&format!("embeddings.{name}_embeddings.weight"), &[rows, size])
        };
        let mut kind = embeddings("token_type", config.type_vocab_size)?;
        kind.truncate(size);
        let layers = (0..config.num_hidden_layers)
            .map(|number| Layer::read(&config, &weights, width, number))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            arch,
            width,
            words: embeddings("word", config.vocab_size)?,
            positions: embeddings("position", config.max_position_embeddings)?,
            kind,
            norm: Norm::read(&weights, "embeddings.LayerNorm", size)?,
            layers,
            config,
        })
    }

    pub fn dimension(&self) -> usize {
        self.config.hidden_size
    }

    /// The vector of each text, given by the ids of its tokens. Fails if a text has no tokens, is too
    /// long, or has an id that the model does not have.
    pub fn encode(&self, texts: &[&[u32]], pooling: Pooling) -> Result<Vec<Vec<f32>>, String> {
        for text in texts {
            let most = self.config.max_position_embeddings;
            if text.is_empty() || text.len() > most {
                return Err(format!("a text has {} tokens, not 1 to {most}", text.len()));
            }
            if let Some(id) = text.iter().find(|id| **id as usize >= self.config.vocab_size) {
                return Err(format!("the model has no token with the id {id}"));
            }
        }
        Ok(self.arch.dispatch(Pass { encoder: self, texts, pooling }))
    }
}

impl EncoderConfig {
    fn check(&self) -> Result<(), String> {
        if self.hidden_act != "gelu" {
            return Err(format!("`hidden_act` is `{}`, not `gelu`", self.hidden_act));
        }
        if self.position_embedding_type != "absolute" {
            let found = &self.position_embedding_type;
            return Err(format!("`position_embedding_type` is `{found}`, not `absolute`"));
        }
        if self.num_attention_heads == 0
            || !self.hidden_size.is_multiple_of(self.num_attention_heads)
        {
            let (size, heads) = (self.hidden_size, self.num_attention_heads);
            return Err(format!("{size} numbers cannot be divided among {heads} attention heads"));
        }
        if self.type_vocab_size == 0 {
            return Err("`type_vocab_size` is 0".to_owned());
        }
        Ok(())
    }
}

impl Norm {
    fn read(weights: &Weights<'_>, name: &str, size: usize) -> Result<Self, String> {
        let (scale, shift) = weights.norm(name, size)?;
        Ok(Self { scale, shift })
    }
}

impl Layer {
    fn read(
        config: &EncoderConfig,
        weights: &Weights<'_>,
        width: usize,
        number: usize,
    ) -> Result<Self, String> {
        let (size, wide) = (config.hidden_size, config.intermediate_size);
        let matrix = |name: &str, outputs: usize, inputs: usize| {
            let name = format!("encoder.layer.{number}.{name}");
            let values = weights.take(&format!("{name}.weight"), &[outputs, inputs])?;
            let bias = weights.take(&format!("{name}.bias"), &[outputs])?;
            Ok::<_, String>((values, bias))
        };
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let (values, bias) = matrix(name, outputs, inputs)?;
            Ok::<_, String>(Panels::linear(width, inputs, &values, &bias))
        };
        let (mut values, mut bias) = (Vec::new(), Vec::new());
        for name in ["query", "key", "value"] {
            let part = matrix(&format!("attention.self.{name}"), size, size)?;
            values.extend(part.0);
            bias.extend(part.1);
        }
        let norm =
            |name: &str| Norm::read(weights, &format!("encoder.layer.{number}.{name}"), size);
        Ok(Self {
            attention: Panels::linear(width, size, &values, &bias),
            attention_output: linear("attention.output.dense", size, size)?,
            attention_norm: norm("attention.output.LayerNorm")?,
            widening: linear("intermediate.dense", wide, size)?,
            narrowing: linear("output.dense", size, wide)?,
            norm: norm("output.LayerNorm")?,
        })
    }
}

struct PanelWidth;

impl WithSimd for PanelWidth {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        kernel::panel_width::<S>()
    }
}

/// A pass of some texts through an encoder.
struct Pass<'a> {
    encoder: &'a Encoder,
    texts: &'a [&'a [u32]],
    pooling: Pooling,
}

/// Memory that the layers of a pass use again.
#[derive(Default)]
struct Buffers {
    packed: Vec<f32>,
    /// Query, key and value of every token.
    attention: Vec<f32>,
    attended: Vec<f32>,
    wide: Vec<f32>,
    added: Vec<f32>,
    scores: Vec<f32>,
    keys: Panels,
    values: Panels,
}

impl WithSimd for Pass<'_> {
    type Output = Vec<Vec<f32>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<Vec<f32>> {
        let mut hidden = self.embed();
        let mut buffers = Buffers::default();
        for layer in &self.encoder.layers {
            self.layer(simd, layer, &mut hidden, &mut buffers);
        }
        self.pool(&hidden)
    }
}

impl Pass<'_> {
    /// One row for each token, the texts one after the other.
    #[inline(always)]
    fn embed(&self) -> Vec<f32> {
        let (encoder, size) = (self.encoder, self.encoder.config.hidden_size);
        let tokens: usize = self.texts.iter().map(|text| text.len()).sum();
        let mut hidden = Vec::with_capacity(tokens * size);
        for text in self.texts {
            for (id, position) in text.iter().zip(encoder.positions.chunks_exact(size)) {
                let word = &encoder.words[*id as usize * size..][..size];
                let parts = word.iter().zip(position).zip(&encoder.kind);
                hidden.extend(parts.map(|((word, position), kind)| word + position + kind));
            }
        }
        self.normalise(&mut hidden, &encoder.norm);
        hidden
    }

    #[inline(always)]
    fn normalise(&self, hidden: &mut [f32], norm: &Norm) {
        let config = &self.encoder.config;
        for row in hidden.chunks_exact_mut(config.hidden_size) {
            kernel::normalise(row, &norm.scale, &norm.shift, config.layer_norm_eps);
        }
    }

    #[inline(always)]
    fn layer<S: Simd>(&self, simd: S, layer: &Layer, hidden: &mut [f32], buffers: &mut Buffers) {
        let size = self.encoder.config.hidden_size;
        linear(simd, hidden, &layer.attention, &mut buffers.attention, &mut buffers.packed, size);
        self.attend(simd, buffers);
        let Buffers { packed, attended, wide, added, .. } = buffers;
        linear(simd, attended, &layer.attention_output, added, packed, size);
        self.add(hidden, added, &layer.attention_norm);
        linear(simd, hidden, &layer.widening, wide, packed, size);
        kernel::gelu(wide);
        let inputs = self.encoder.config.intermediate_size;
        linear(simd, wide, &layer.narrowing, added, packed, inputs);
        self.add(hidden, added, &layer.norm);
    }

    #[inline(always)]
    fn add(&self, hidden: &mut [f32], added: &[f32], norm: &Norm) {
        for (value, added) in hidden.iter_mut().zip(added) {
            *value += added;
        }
        self.normalise(hidden, norm);
    }

    /// Lets the tokens of each text attend to each other.
    #[inline(always)]
    fn attend<S: Simd>(&self, simd: S, buffers: &mut Buffers) {
        let config = &self.encoder.config;
        let (size, heads) = (config.hidden_size, config.num_attention_heads);
        let (head_size, stride) = (size / heads, 3 * size);
        let factor = 1.0 / (head_size as f32).sqrt();
        let Buffers { packed, attention, attended, scores, keys, values, .. } = buffers;
        attended.clear();
        attended.resize(attention.len() / 3, 0.0);
        let mut first = 0;
        for text in self.texts {
            let count = text.len();
            let rows = &attention[first * stride..(first + count) * stride];
            let width = self.encoder.width;
            for head in 0..heads {
                let column = head * head_size;
                keys.pack(width, (head_size, count), |of, token| {
                    rows[token * stride + size + column + of] * factor
                });
                scores.clear();
                scores.resize(count * count, 0.0);
                let query = Columns { values: rows, rows: count, stride, first: column };
                let target = Target { values: scores, stride: count, first: 0 };
                kernel::multiply(simd, query, keys, target, packed);
                for row in scores.chunks_exact_mut(count) {
                    kernel::softmax(row);
                }
                values.pack(width, (count, head_size), |token, of| {
                    rows[token * stride + 2 * size + column + of]
                });
                let weights = Columns { values: scores, rows: count, stride: count, first: 0 };
                let target = Target {
                    values: &mut attended[first * size..(first + count) * size],
                    stride: size,
                    first: column,
                };
                kernel::multiply(simd, weights, values, target, packed);
            }
            first += count;
        }
    }

    /// The vector of each text.
    #[inline(always)]
    fn pool(&self, hidden: &[f32]) -> Vec<Vec<f32>> {
        let size = self.encoder.config.hidden_size;
        let mut rows = hidden.chunks_exact(size);
        let mut vectors = Vec::with_capacity(self.texts.len());
        for text in self.texts {
            let mut vector = vec![0.0; size];
            for (place, row) in rows.by_ref().take(text.len()).enumerate() {
                if self.pooling == Pooling::Mean || place == 0 {
                    for (sum, value) in vector.iter_mut().zip(row) {
                        *sum += value;
                    }
                }
            }
            if self.pooling == Pooling::Mean {
                let factor = 1.0 / text.len() as f32;
                for value in &mut vector {
                    *value *= factor;
                }
            }
            vectors.push(vector);
        }
        vectors
    }
}

/// Applies a linear layer to every row.
#[inline(always)]
fn linear<S: Simd>(
    simd: S,
    rows: &[f32],
    layer: &Panels,
    out: &mut Vec<f32>,
    packed: &mut Vec<f32>,
    inputs: usize,
) {
    let count = rows.len() / inputs;
    out.clear();
    out.resize(count * layer.outputs(), 0.0);
    let left = Columns { values: rows, rows: count, stride: inputs, first: 0 };
    let target = Target { values: out, stride: layer.outputs(), first: 0 };
    kernel::multiply(simd, left, layer, target, packed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(change: &str) -> EncoderConfig {
        let mut config = serde_json::json!({
            "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
            "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 2,
            "vocab_size": 30522, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
        });
        let change: serde_json::Value = serde_json::from_str(change).unwrap();
        for (name, value) in change.as_object().unwrap() {
            config[name] = value.clone();
        }
        serde_json::from_value(config).unwrap()
    }

    #[test]
    fn encoder_refuses_configurations_that_it_cannot_run() {
        for (change, named) in [
            (r#"{"hidden_act": "relu"}"#, "relu"),
            (r#"{"position_embedding_type": "relative_key"}"#, "relative_key"),
            (r#"{"num_attention_heads": 7}"#, "7"),
            (r#"{"num_attention_heads": 0}"#, "0"),
            (r#"{"type_vocab_size": 0}"#, "type_vocab_size"),
        ] {
            let error = Encoder::open(config(change), b"").unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        let error = Encoder::open(config("{}"), b"not weights").unwrap_err();
        assert!(!error.is_empty());
    }
}
