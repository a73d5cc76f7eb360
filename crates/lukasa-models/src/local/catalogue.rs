//! The models Lukasa knows by name: their files, pinned by hash, and where to download them.
//!
//! A hash pins each file, so neither the hub nor the connection to it needs to be trusted. The
//! revision is pinned too, so that a file changed on the hub does not break an installation.

/// A model that can be downloaded, and whose files are recognised in any folder.
#[derive(Debug)]
pub struct KnownModel {
    /// The name used in commands, and the name of its folder.
    pub short: &'static str,
    /// The name its vectors are stored under.
    pub full: &'static str,
    pub dimension: usize,
    /// Its repository on the hub.
    pub repository: &'static str,
    pub revision: &'static str,
    pub licence: &'static str,
    pub files: &'static [ModelFile],
}

/// One file of a model.
#[derive(Debug)]
pub struct ModelFile {
    pub name: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

/// The hub the catalogue's repositories are on, unless a mirror is named.
pub const HUB: &str = "https://huggingface.co";

pub const KNOWN: [KnownModel; 2] = [
    KnownModel {
        short: "potion",
        full: "potion-base-8M",
        dimension: 256,
        repository: "minishlab/potion-base-8M",
        revision: "bf8b056651a2c21b8d2565580b8569da283cab23",
        licence: "MIT",
        files: &[
            ModelFile {
                name: "config.json",
                bytes: 202,
                sha256: "2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553",
            },
            ModelFile {
                name: "tokenizer.json",
                bytes: 683_666,
                sha256: "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            },
            ModelFile {
                name: "model.safetensors",
                bytes: 30_236_760,
                sha256: "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
            },
        ],
    },
    KnownModel {
        short: "minilm",
        full: "all-MiniLM-L6-v2",
        dimension: 384,
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        licence: "Apache-2.0",
        files: &[
            ModelFile {
                name: "config.json",
                bytes: 612,
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
            ModelFile {
                name: "tokenizer.json",
                bytes: 466_247,
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            ModelFile {
                name: "model.safetensors",
                bytes: 90_868_376,
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            },
        ],
    },
];

/// The known model of that name, short or full, in any case.
pub fn find(name: &str) -> Option<&'static KnownModel> {
    let same = |own: &str| own.eq_ignore_ascii_case(name);
    KNOWN.iter().find(|model| same(model.short) || same(model.full))
}

/// The known model that has exactly these weights.
pub(super) fn with_weights(sha256: &str) -> Option<&'static KnownModel> {
    let holds = |file: &ModelFile| file.name == super::WEIGHTS && file.sha256 == sha256;
    KNOWN.iter().find(|model| model.files.iter().any(holds))
}

impl KnownModel {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The URL of one of its files below `base` (the hub, or a mirror with the same layout).
    pub fn url(&self, base: &str, file: &ModelFile) -> String {
        let base = base.trim_end_matches('/');
        format!("{base}/{}/resolve/{}/{}", self.repository, self.revision, file.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{HUB, KNOWN, find};

    #[test]
    fn known_model_is_found_by_short_and_full_name() {
        assert_eq!(find("potion").map(|model| model.dimension), Some(256));
        assert_eq!(find("All-MiniLM-L6-v2").map(|model| model.short), Some("minilm"));
        assert!(find("gpt").is_none());
    }

    #[test]
    fn known_models_list_their_three_files() {
        for model in &KNOWN {
            for name in [super::super::CONFIG, super::super::TOKENIZER, super::super::WEIGHTS] {
                let file = model.files.iter().find(|file| file.name == name).unwrap();
                assert_eq!(file.sha256.len(), 64, "{} {name}", model.short);
            }
        }
    }

    #[test]
    fn model_url_has_pinned_revision() {
        let url = KNOWN[0].url(HUB, &KNOWN[0].files[0]);
        assert_eq!(
            url,
            "https://huggingface.co/minishlab/potion-base-8M/resolve/\
             bf8b056651a2c21b8d2565580b8569da283cab23/config.json"
        );
    }
}
