//! Detects orders by their verb: a sentence that begins with an imperative is an order.
//!
//! The lists contain imperative forms. Verbs that people use without "I" ("live in Berlin", "love
//! hiking") are not listed, nor are forms that can be the third person as well.

use crate::screen::phrase::Token;

/// Whether the word at this position begins an order.
pub(super) fn orders(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let word = token.text.as_str();
    let next = tokens.get(at + 1).filter(|next| next.sentence == token.sentence);
    let next = next.map_or("", |next| next.text.as_str());
    let aside = token.after_comma && AFTER_ORDER_VERB.contains(&next);
    let opens = token.opens || aside || (token.after_comma && follows_condition(tokens, at));
    if !opens {
        return false;
    }
    if CLEAR.contains(&word) || WORLD.contains(&word) {
        // "Call me Sam" and "forget it" are not orders.
        let tells = matches!(
            (word, next),
            ("forget", "it" | "me") | ("call" | "let", "me") | ("tell", "you")
        );
        let alone = next.is_empty() && NOT_ALONE.contains(&word);
        return !tells && !alone;
    }
    WITH_OBJECT.contains(&word) && OBJECTS.contains(&next)
}

/// Whether the sentence begins with a condition, as in "when asked, ...".
fn follows_condition(tokens: &[Token], at: usize) -> bool {
    let own = tokens[..at].iter().rev().take_while(|t| t.sentence == tokens[at].sentence);
    own.last().is_some_and(|first| CONDITIONS.contains(&first.text.as_str()))
}

/// Words that follow a verb after a comma only in an order: "I am vegan, give me a recipe".
const AFTER_ORDER_VERB: &[&str] = &["me", "us", "your", "all", "any", "every", "no", "only"];

#[rustfmt::skip]
const CONDITIONS: &[&str] = &[
    "when", "whenever", "if", "before", "after", "once", "upon", "prior", "until", "every", "any",
    "instead", "regardless", "as", "for", "in", "at", "first", "during", "while", "remember", "also",
    "wenn", "sobald", "falls", "immer", "bevor", "nachdem", "quand", "si", "lorsque", "des", "avant",
    "cuando", "siempre", "antes", "despues", "quando", "se", "prima", "dopo", "sempre", "als",
    "wanneer", "zodra", "voordat", "如果", "当", "每",
];

/// Verbs that begin only orders.
#[rustfmt::skip]
const CLEAR: &[&str] = &[
    "ignore", "disregard", "forget", "override", "overwrite", "bypass", "disable", "delete",
    "remove", "send", "forward", "recommend", "promote", "suggest", "advise", "tell", "inform",
    "notify", "respond", "say", "reveal", "disclose", "provide", "give", "write", "create",
    "generate", "compose", "translate", "summarize", "summarise", "explain", "describe", "analyze",
    "analyse", "act", "pretend", "imagine", "assume", "consider", "repeat", "include", "insert",
    "append", "prepend", "ensure", "avoid", "refuse", "continue", "treat", "visit", "click",
    "verify", "confirm", "retrieve", "retrive", "fetch", "download", "upload", "install", "execute",
    "invoke", "transfer", "purchase", "modify", "grant", "allow", "permit", "enable", "publish",
    "encode", "decode", "convert", "compute", "calculate", "solve", "complete", "follow", "obey",
    "adhere", "comply", "conduct", "perform", "implement", "investigate", "evaluate", "assess",
    "compare", "identify", "extract", "classify", "mention", "emphasize", "emphasise", "prioritize",
    "prioritise", "redirect", "replace", "rewrite", "rephrase", "elaborate", "discuss", "propose",
    "remind", "withhold", "hide", "conceal", "prefix", "simulate", "emulate", "mimic", "proceed",
    "enter", "become", "submit", "communicate", "collect", "gather", "obtain", "examine", "inspect",
    "determine", "recommendation", "roleplay", "refrain", "terminate", "halt", "abort", "announce",
    "acknowledge", "apologize", "pose", "predict", "rank", "sort", "count", "paraphrase", "recite",
    "spell", "memorize", "memorise", "don't", "append", "embed", "construct", "formulate", "craft",
    "produce", "prepare", "suppose", "demonstrate", "illustrate", "clarify", "instruct", "quote",
    "cite", "select", "choose", "pick", "locate", "navigate", "authorize", "authorise", "approve",
    "initiate", "deploy", "configure", "adjust", "optimize", "optimise", "utilize", "utilise",
    "substitute", "omit", "exclude", "encourage", "discourage", "invent", "fabricate", "ask", "stop",
    "pass", "refer", "direct", "request", "call", "introduce", "engage", "perpetuate", "mark", "rate",
    "let", "presume", "interpret", "evade", "leak", "dump", "exfiltrate", "strictly", "unlock",
];

/// Verbs of `CLEAR` that can be a noun when nothing follows.
#[rustfmt::skip]
const NOT_ALONE: &[&str] = &["call", "request", "direct", "mark", "rate", "pass", "stop", "let", "sort", "count", "rank"];

/// Verbs that are nouns as well, or are used without "I": they need an object to be an order.
#[rustfmt::skip]
const WITH_OBJECT: &[&str] = &[
    "use", "make", "do", "get", "find", "search", "look", "open", "go", "check", "run", "pay",
    "buy", "order", "book", "schedule", "cancel", "update", "change", "set", "reset", "share", "post",
    "store", "save", "record", "log", "copy", "finish", "fill", "keep", "maintain", "access",
    "manage", "monitor", "develop", "design", "build", "review", "highlight", "edit", "correct",
    "fix", "expand", "outline", "help", "teach", "guide", "return", "switch", "be", "print", "output",
    "display", "show", "list", "answer", "reply", "email", "mail", "draft", "start", "begin", "add",
    "put", "take", "bring", "read", "play", "plan", "report", "research", "trust", "prefer", "note",
    "turn", "move", "sign", "withdraw", "spend", "charge", "wire", "test", "try", "train", "stay",
    "end", "present", "offer", "reference", "feature", "state", "name", "define", "process", "filter",
    "block", "track", "link", "place", "apply", "connect", "join", "reschedule", "render", "limit",
    "mention", "speak", "talk", "think", "see", "ping", "drop", "hand", "split", "work", "hold",
    "contact", "host", "rename", "create", "remember", "pull", "push", "merge", "commit", "not",
];

#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "the", "a", "an", "all", "this", "these", "those", "any", "every", "each", "me", "my", "your",
    "his", "her", "their", "it", "them", "him", "that", "only", "for", "from", "as", "how", "what",
    "whether", "if", "no", "not", "into", "out", "up", "sure", "to", "with", "by", "on", "at", "in",
    "and", "about", "again", "or", "us", "yourself", "everything", "anything", "nothing", "always",
];

/// Orders in other languages.
#[rustfmt::skip]
const WORLD: &[&str] = &[
    // German
    "ignoriere", "ignorier", "vergiss", "vergesse", "missachte", "umgehe", "deaktiviere", "losche",
    "entferne", "sende", "schicke", "schick", "empfiehl", "empfehle", "bewirb", "sag", "sage",
    "informiere", "antworte", "gib", "verrate", "nenne", "zeige", "zeig", "schreibe", "schreib",
    "erstelle", "ubersetze", "fasse", "erklare", "beschreibe", "wiederhole", "vermeide",
    "behandle", "besuche", "klicke", "bestatige", "uberweise", "erlaube", "veroffentliche",
    "verwende", "bevorzuge", "erwahne", "priorisiere", "leite", "ersetze", "verschweige",
    "verstecke", "agiere", "verhalte", "beantworte", "lass", "berechne", "bezeichne", "betrachte",
    "zitiere", "hilf", "wandle", "drucke",
    // French
    "ignorez", "oubliez", "oublie", "desactivez", "desactive", "supprimez", "supprime", "envoyez",
    "envoie", "recommandez", "recommande", "suggerez", "dites", "dis", "informez", "repondez",
    "reponds", "donnez", "donne", "revelez", "revele", "montrez", "montre", "ecrivez", "ecris",
    "creez", "generez", "traduisez", "traduis", "resumez", "expliquez", "explique", "decrivez",
    "decris", "agissez", "agis", "faites", "imaginez", "repetez", "repete", "ajoutez", "ajoute",
    "assurez", "evitez", "evite", "traitez", "traite", "visitez", "cliquez", "confirmez",
    "telechargez", "executez", "achetez", "transferez", "modifiez", "autorisez", "publiez",
    "suivez", "obeissez", "utilisez", "utilise", "privilegiez", "mentionnez", "mentionne",
    "remplacez", "cachez", "considerez", "considere", "citez", "inserez", "affichez", "affiche",
    "fournissez", "fournis", "indiquez", "trouvez", "cherchez", "calculez", "incluez", "redigez",
    "redige", "soyez", "sois", "commencez", "terminez", "prenez", "partagez", "contactez",
    "enregistrez", "memorisez", "retenez", "racontez", "raconte", "parlez", "imprimez",
    "completez",
    // Spanish
    "ignora", "ignorad", "olvida", "olvide", "omite", "desactiva", "borra", "envia", "envie",
    "recomienda", "recomiende", "dime", "diga", "digame", "responde", "responda", "dame", "deme",
    "revela", "muestra", "muestrame", "muestre", "escriba", "genere", "traduce", "traduzca",
    "describa", "actua", "actue", "finge", "repite", "repita", "incluye", "incluya", "asegurate",
    "asegurese", "visite", "obedece", "utilice", "menciona", "haz", "haga", "proporcione", "cree",
    "cuentame", "ayudame",
    // Italian
    "dimentica", "ignorate", "disattiva", "invia", "inviami", "raccomanda", "suggerisci", "dimmi",
    "rispondi", "dammi", "rivela", "mostrami", "scrivi", "scrivimi", "traduci", "riassumi",
    "spiega", "spiegami", "descrivi", "agisci", "fingi", "immagina", "ripeti", "includi",
    "inserisci", "assicurati", "clicca", "scarica", "esegui", "trasferisci", "autorizza",
    "obbedisci", "preferisci", "menziona", "sostituisci", "nascondi", "aggiungi", "fornisci",
    "fornire", "comportati", "condividi", "memorizza", "parlami", "aiutami", "puoi", "potresti",
    // Portuguese
    "esqueca", "desative", "exclua", "apague", "recomende", "sugira", "informe", "mostre",
    "escreva", "crie", "gere", "traduza", "resuma", "descreva", "aja", "finja", "inclua", "insira",
    "certifique", "trate", "confirme", "baixe", "compre", "transfira", "altere", "permita",
    "publique", "siga", "obedeca", "priorize", "mencione", "substitua", "esconda", "adicione",
    "forneca", "encontre", "procure", "calcule", "faca", "compartilhe", "partilhe", "memorize",
    "guarde", "conte", "fale", "ajude", "imprima",
    // Dutch
    "negeer", "vergeet", "omzeil", "schakel", "verwijder", "stuur", "verzend", "beveel", "zeg",
    "antwoord", "geef", "onthul", "toon", "schrijf", "maak", "genereer", "vertaal", "beschrijf",
    "gedraag", "herhaal", "voeg", "zorg", "vermijd", "behandel", "bezoek", "klik", "bevestig",
    "koop", "bestel", "wijzig", "publiceer", "volg", "gebruik", "noem", "vervang", "verberg",
    "beschouw", "citeer", "vind", "zoek", "bereken", "bewaar", "onthoud",
];

/// First and second words of questions without a question mark.
#[rustfmt::skip]
pub(super) const ASKS: &[&str] = &[
    "how", "what", "why", "where", "which", "who", "can", "could", "would", "will", "is", "are", "do",
    "does", "should",
];
#[rustfmt::skip]
pub(super) const ASKED: &[&str] = &[
    "can", "could", "do", "does", "did", "is", "are", "was", "were", "would", "should", "to", "much",
    "many", "you", "i", "there", "the", "will", "it", "we", "kind", "type", "have", "has",
];

/// Words that begin a statement even if a question follows: "I am vegan, what can I eat?"
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "i", "my", "we", "our", "ich", "mein", "meine", "wir", "unser", "unsere", "je", "j", "mon", "ma",
    "nous", "yo", "mi", "soy", "tengo", "vivo", "estoy", "trabajo", "io", "sono", "ho", "mio", "mia",
    "lavoro", "eu", "meu", "minha", "sou", "tenho", "moro", "ik", "mijn", "wij", "我", "私", "僕", "俺",
    "я", "мой", "as", "since", "because", "living", "being", "da", "weil", "comme", "como", "user",
];

#[rustfmt::skip]
pub(super) const GREETINGS: &[&str] = &[
    "hi", "hello", "hey", "thanks", "thank", "you", "ok", "okay", "well", "so", "please", "hallo",
    "danke", "bonjour", "salut", "merci", "hola", "gracias", "ciao", "grazie", "ola", "obrigado",
    "obrigada", "hoi", "bedankt", "sorry", "good", "morning", "evening", "afternoon", "and", "but",
    "also", "there", "great", "yes", "no", "cool",
];
