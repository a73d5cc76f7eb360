//! Reads the weights of an encoder from a file in the format `safetensors`.

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

/// Prefixes of names: files of a whole task name the encoder in it.
const PREFIXES: [&str; 3] = ["", "bert.", "model."];
/// A tensor that every encoder has.
const EMBEDDINGS: &str = "embeddings.word_embeddings.weight";

pub(crate) struct Weights<'a> {
    tensors: SafeTensors<'a>,
    prefix: &'static str,
}

impl<'a> Weights<'a> {
    pub fn read(file: &'a [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(file).map_err(|e| e.to_string())?;
        let has = |prefix: &&str| tensors.tensor(&format!("{prefix}{EMBEDDINGS}")).is_ok();
        let prefix = PREFIXES.into_iter().find(has);
        let prefix = prefix.ok_or_else(|| format!("there are no weights `{EMBEDDINGS}`"))?;
        Ok(Self { tensors, prefix })
    }

    /// The numbers of a tensor, which must have this shape.
    pub fn take(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.tensor(&name).map_err(|_| format!("no weights `{name}`"))?;
        if tensor.shape() != shape {
            return Err(format!("`{name}` has the shape {:?}, not {shape:?}", tensor.shape()));
        }
        let data = tensor.data();
        let pairs = || data.as_chunks::<2>().0.iter().copied();
        Ok(match tensor.dtype() {
            Dtype::F32 => data.as_chunks::<4>().0.iter().copied().map(f32::from_le_bytes).collect(),
            Dtype::F16 => pairs().map(|bytes| f16::from_le_bytes(bytes).to_f32()).collect(),
            Dtype::BF16 => pairs().map(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect(),
            other => return Err(format!("`{name}` has numbers of the type {other:?}")),
        })
    }

    /// Scale and shift of a normalisation. Old files call them gamma and beta.
    pub fn norm(&self, name: &str, size: usize) -> Result<(Vec<f32>, Vec<f32>), String> {
        let either = |new: &str, old: &str| {
            let new = self.take(&format!("{name}.{new}"), &[size]);
            new.or_else(|error| self.take(&format!("{name}.{old}"), &[size]).map_err(|_| error))
        };
        Ok((either("weight", "gamma")?, either("bias", "beta")?))
    }
}
