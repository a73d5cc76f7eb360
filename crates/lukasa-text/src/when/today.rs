//! Sentences about the day on which they are said.

use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::phrase::{Phrases, TokenizedText, WordRanges};

static TODAY: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("when/today", en de fr es it pt nl pl ru zh ja ko))])
});
static BEYOND_TODAY: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("when/beyond_today", en de fr es it pt nl pl zh ja))])
});

/// Whether a sentence says that it is about today: "I'm exhausted today", but not "from today on".
pub fn is_about_today(sentence: &str) -> bool {
    let tokenized = TokenizedText::new(sentence);
    let longer = BEYOND_TODAY.find(&tokenized).map(|found| found.start..found.end);
    let longer = WordRanges::new(longer);
    TODAY.find(&tokenized).any(|found| !longer.cover(&(found.start..found.start + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_about_today_is_recognised_in_twelve_languages() {
        for sentence in [
            "I'm exhausted today",
            "I am working from home this afternoon.",
            "Tonight I'm too tired to cook.",
            "Ich bin heute völlig erschöpft.",
            "Je suis épuisé aujourd\u{2019}hui.",
            "Je suis trop fatigué ce soir",
            "Hoy estoy agotada",
            "Oggi sono stanchissimo.",
            "Hoje estou exausta.",
            "Ik ben vandaag doodmoe",
            "Jestem dziś zmęczona",
            "Я сегодня очень устала",
            "我今天很累",
            "今日は疲れています",
            "오늘은 너무 피곤해요",
        ] {
            assert!(is_about_today(sentence), "{sentence}");
        }
    }

    #[test]
    fn longer_time_that_begins_or_ends_today_is_not_about_today() {
        for sentence in [
            "I'm exhausted",
            "I'm exhausted these days",
            "From today on I work from home, and as of today I have no car.",
            "Ab heute arbeite ich zu Hause.",
            "Von heute an esse ich kein Fleisch.",
            "Heutzutage bin ich oft müde",
            "Depuis aujourd'hui je travaille chez moi.",
            "Hoy en día trabajo desde casa",
            "Da oggi lavoro a casa",
            "Hoje em dia trabalho em casa",
            "Vanaf vandaag werk ik thuis",
            "Od dziś pracuję w domu",
            "从今天开始我在家工作",
            "今日から在宅勤務です",
        ] {
            assert!(!is_about_today(sentence), "{sentence}");
        }
    }
}
