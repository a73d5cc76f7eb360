//! Texts with a token: files, commands and messages in several languages. None of them names the
//! token, so that only its own form can give it away.

use anyhow::Result;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::data::{self, Guarded};
use super::filling::filled;

/// The texts, with `@` in place of the token.
#[rustfmt::skip]
const CARRIERS: &[&str] = &[
    "@", "use @ for the deploy", "@ does not work any more", "SOME_VALUE=@", "value: @",
    "{\"value\": \"@\"}", "curl -H \"X-Custom: @\" https://api.mossyard.example",
    "here you go:\n@\nthanks", "const k = '@';", "<value>@</value>", "- @", "`@`", "(@)", "see @.",
    "a,b,@,c", "https://mossyard.example/cb?value=@&x=1", "text\\n@\\nmore",
    "ich habe @ benutzt, geht das?", "j'ai collé @ dans le fichier", "pegué @ en el archivo",
    "ho incollato @ nel file", "colei @ no arquivo", "ik heb @ geplakt", "我用了@，可以吗？",
    "@を使いました",
];

/// Every published token format in every carrier, with new random parts each time. A whole format
/// belongs to one half, so that the other half measures formats that the rules were not tuned on.
pub fn token_lines(seed: u64) -> Result<Vec<Guarded>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut found = Vec::new();
    for sample in data::tokens()? {
        for carrier in CARRIERS {
            let token = filled(&sample.token, &mut rng);
            let text = carrier.replace('@', &token.text);
            found.push(Guarded {
                id: sample.id.clone(),
                text,
                secret: true,
                hidden: token.longest,
            });
        }
    }
    Ok(found)
}
