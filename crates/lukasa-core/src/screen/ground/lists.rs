//! Word lists: words that a faithful paraphrase adds, changes or must not change.

/// Words without content in a claim about the user: the subject, and the verbs that change the
/// first person into the third.
#[rustfmt::skip]
pub(super) const RETELLING: &[&str] = &[
    "user", "users", "person", "speaker", "they", "theirs", "themselves", "s",
    "is", "are", "was", "be", "been", "being", "has", "have", "had", "having", "does", "do", "did", "named", "name", "names", "called", "goes", "known",
    "prefer", "prefers", "preferred", "preference", "preferences", "like", "likes", "liked", "love", "loves", "enjoy", "enjoys", "want", "wants", "wanted", "would", "use", "uses", "used", "using",
    "work", "works", "working", "worked", "job", "live", "lives", "living", "lived", "based", "reside", "resides", "located", "currently", "now", "own", "owns", "get", "gets", "keep", "keeps",
    "say", "says", "said", "mention", "mentions", "mentioned", "state", "states", "stated", "told", "describes", "described", "identifies", "considers", "reports", "reported", "says", "interested", "interest", "habit", "typically", "usually", "usual", "plans", "planning", "plan", "wishes",
    "nutzer", "nutzers", "nutzerin", "benutzers", "anwenders", "möchten", "hätte", "findet", "geht", "heissen", "benutzer", "benutzerin", "anwender", "anwenderin", "heißt", "mag", "bevorzugt", "möchte", "hat", "ist", "arbeitet", "wohnt", "lebt", "nutzt", "verwendet", "gern", "gerne", "person", "name",
    "utilisateur", "utilisatrice", "utilisateurs", "s'appelle", "appelle", "préfère", "aime", "veut", "utilise", "habite", "vit", "travaille", "a", "est", "nom", "nomme", "personne",
    "usuario", "usuaria", "llama", "prefiere", "gusta", "quiere", "usa", "utiliza", "vive", "trabaja", "tiene", "es", "está", "nombre", "persona",
    "utente", "chiama", "preferisce", "piace", "vuole", "usa", "utilizza", "vive", "abita", "lavora", "ha", "è", "nome",
    "usuário", "usuária", "utilizador", "utilizadora", "chama", "prefere", "gosta", "quer", "usa", "mora", "trabalha", "tem", "é", "está",
    "gebruiker", "gebruikster", "heet", "houdt", "wil", "gebruikt", "woont", "werkt", "heeft", "is", "naam", "graag", "verkiest",
    "пользователь", "пользователя", "пользователю", "пользователем", "пользовательница", "пользовательницы", "нравится", "у", "зовут", "предпочитает", "любит", "хочет", "использует", "живет", "живёт", "работает", "имеет",
];

/// The same for writing without spaces: removed before characters are compared.
#[rustfmt::skip]
pub(super) const RETELLING_DENSE: &[&str] = &[
    "用户的", "用户", "使用者", "用戶", "本人", "喜欢", "喜歡", "偏好", "更喜欢", "希望", "想要", "名叫", "叫做", "名字", "居住", "住在", "工作", "使用", "拥有", "有", "是", "的", "在", "了", "一名", "一位", "一个", "个", "名", "位", "叫", "为", "他", "她", "我", "也", "很", "和",
    "ユーザーの", "ユーザーは", "ユーザー", "利用者は", "利用者", "という名前", "と呼ばれ", "名前は", "名前", "を好む", "好む", "が好き", "好き", "に住んでいる", "住んでいる", "在住", "住んでい", "で働いている", "働いている", "働いてい", "勤務", "使用している", "使っている", "を使", "飼っている", "飼ってい", "している", "しています", "である", "です", "ます", "いる", "ある", "もの", "こと", "という", "とい", "から", "まで", "私", "僕", "俺",
    "は", "が", "を", "に", "の", "で", "と", "も", "へ", "や", "な", "だ", "う", "る", "て", "い", "し", "た",
];

/// Words that negate a sentence.
#[rustfmt::skip]
pub(super) const NEGATIONS: &[&str] = &[
    "not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "neither", "nor", "t",
    "nicht", "kein", "keine", "keinen", "keiner", "keinem", "nie", "niemals", "ohne", "nichts",
    "pas", "jamais", "aucun", "aucune", "sans", "rien", "nunca", "jamás", "sin", "ningún", "ninguna", "tampoco",
    "non", "senza", "nessun", "nessuna", "não", "sem", "nenhum", "nenhuma", "niet", "geen", "nooit", "zonder",
    "не", "нет", "никогда", "без",
    "不", "没", "別", "无", "無", "非",
];

/// Words that are negative without a negation: a claim may use them for a negated sentence, and
/// vice versa.
#[rustfmt::skip]
pub(super) const REFUSALS: &[&str] = &[
    "dislike", "dislikes", "hate", "hates", "avoid", "avoids", "refuse", "refuses", "stop", "stopped", "quit", "skip", "skips", "lack", "lacks", "except", "unable", "former", "formerly", "ex", "free", "instead", "rather", "allergic", "intolerant", "vegan", "vegetarian", "abstain", "abstains", "against", "loathe", "loathes", "detests", "can't", "miss", "misses", "gave", "less", "unlike", "opposed", "rarely", "hardly", "seldom",
    "hasse", "hasst", "vermeide", "vermeidet", "ungern", "hör", "aufgehört", "statt", "déteste", "évite", "arrêté", "odio", "odia", "evito", "evita", "dejé", "dejó", "detesto", "detesta", "odeio", "odeia", "evita", "haat", "vermijdt", "讨厌", "避免", "嫌い", "苦手", "避け",
];

/// Words that generalise a claim: a single statement does not support "always".
#[rustfmt::skip]
pub(super) const WIDENING: &[&str] = &[
    "always", "every", "everything", "everyone", "all", "only", "must", "any", "anyone", "whenever", "forever", "permanently", "best", "most", "trusted", "official", "immer", "alle", "alles", "jeder", "jede", "jedes", "nur", "muss", "stets", "toujours", "tous", "toutes", "chaque", "doit", "seulement", "siempre", "todos", "todas", "cada", "debe", "sempre", "tutti", "tutte", "ogni", "deve", "altijd", "elke", "moet", "alleen",
];

/// Groups of synonyms.
#[rustfmt::skip]
pub(super) const ALIKE: &[&[&str]] = &[
    &["live", "lives", "living", "lived", "reside", "resides", "moved", "move", "relocated", "based", "home", "grew"],
    &["work", "works", "working", "job", "employed", "employer", "profession", "career", "occupation"],
    &["answer", "answers", "reply", "replies", "response", "responses", "respond", "explanations", "explanation", "messages"],
    &["child", "children", "kid", "kids", "son", "sons", "daughter", "daughters"], &["mother", "mom", "mum", "mama"], &["father", "dad", "papa"], &["parents", "parent", "folks"],
    &["buy", "bought", "buys", "purchase", "purchased"], &["go", "goes", "went", "going", "attend", "attends", "visit", "visits"], &["eat", "eats", "ate", "eating", "food", "diet"], &["drink", "drinks", "drank", "drinking"], &["drive", "drives", "drove", "car"], &["run", "runs", "ran", "running"], &["teach", "teaches", "taught", "teacher"], &["write", "writes", "wrote", "writing"], &["speak", "speaks", "spoke", "speaking", "talk", "language"], &["learn", "learns", "learning", "learned", "study", "studies", "studying", "studied"], &["play", "plays", "playing", "played"], &["begin", "began", "started", "start", "starts", "starting"], &["leave", "leaves", "left", "leaving"], &["wake", "wakes", "woke", "rise"], &["sleep", "sleeps", "slept", "bed"], &["fly", "flies", "flew", "flight", "flights"], &["meet", "meets", "met", "meeting", "meetings"], &["sing", "sings", "sang", "singing"], &["swim", "swims", "swam", "swimming"], &["read", "reads", "reading"], &["build", "builds", "built", "building"], &["make", "makes", "made"], &["give", "gives", "gave"], &["pet", "pets", "dog", "cat"],
    &["favorite", "favourite", "favorites", "favourites", "best"], &["short", "brief", "concise", "terse", "shorter"], &["long", "detailed", "longer", "depth"], &["colour", "color"], &["apartment", "flat"], &["holiday", "holidays", "vacation", "vacations"], &["film", "films", "movie", "movies"], &["born", "birthday", "birth", "bday", "turn", "turns", "turning", "turned"], &["old", "age", "aged", "years", "year"], &["company", "firm", "business"], &["bike", "bicycle", "bikes", "cycle", "cycles", "cycling"], &["phone", "mobile", "cell"], &["tv", "television"], &["math", "maths", "mathematics"], &["developer", "programmer", "coder", "engineer"], &["spouse", "wife", "husband", "partner", "married"], &["morning", "mornings", "am"], &["evening", "evenings", "night", "nights", "pm"],
    &["esse", "isst", "essen"], &["spreche", "spricht", "sprechen"], &["fahre", "fährt", "fahren"], &["lese", "liest", "lesen"], &["gebe", "gibt", "geben"], &["nehme", "nimmt", "nehmen"], &["laufe", "läuft", "laufen"], &["schlafe", "schläft", "schlafen"], &["trage", "trägt", "tragen"], &["sehe", "sieht", "sehen"], &["helfe", "hilft", "helfen"], &["treffe", "trifft", "treffen"], &["vergesse", "vergisst", "vergessen"], &["weiß", "wissen"], &["vertrage", "verträgt"], &["backe", "bäckt", "backt"], &["wasche", "wäscht"],
    &["vais", "va", "aller"], &["fais", "fait", "faire"], &["peux", "peut"], &["dois", "doit"], &["bois", "boit", "boire"], &["lis", "lit", "lire"], &["écris", "écrit", "écrire"], &["viens", "vient"], &["prends", "prend"], &["tiens", "tient"], &["connais", "connaît"], &["apprends", "apprend", "apprendre"], &["dors", "dort"], &["joue", "joues"], &["conduis", "conduit"],
    &["voy", "va", "ir"], &["hago", "hace"], &["puedo", "puede"], &["juego", "juega", "jugar"], &["duermo", "duerme"], &["vengo", "viene"], &["digo", "dice"], &["conozco", "conoce"], &["conduzco", "conduce"], &["pongo", "pone"], &["salgo", "sale"], &["empiezo", "empieza"], &["entiendo", "entiende"], &["como", "come"], &["bebo", "bebe"], &["hermana", "hermano", "hermanos"],
    &["vado"], &["faccio", "fa"], &["posso", "può"], &["bevo", "beve"], &["vengo", "viene"], &["esco", "esce"], &["suono", "suona"], &["leggo", "legge"], &["vou", "vai"], &["faço", "faz"], &["leio", "lê"], &["durmo", "dorme"], &["venho", "vem"], &["люблю", "любит"], &["пью", "пьет"], &["ем", "ест"], &["живу", "живет"], &["пишу", "пишет"], &["учу", "учит"], &["хожу", "ходит"], &["езжу", "ездит"], &["могу", "может"],
    &["teaches", "teach", "lessons"], &["grows", "grow", "grew"], &["keeps", "keep", "kept"], &["loathe", "hate", "hates", "dislikes", "dislike", "stand"], &["vegetarian", "veggie"], &["allotment", "garden"], &["fixed", "repair", "repairs", "fix"], &["hike", "hikes", "hiking", "walk", "walks"], &["photographer", "photography", "photos"], &["cook", "cooks", "cooking", "chef"], &["paint", "paints", "painting", "painter"], &["climb", "climbs", "climbing"], &["commute", "commutes", "commuting"], &["ride", "rides", "rode", "riding"], &["wear", "wears", "wore"], &["sell", "sells", "sold"], &["win", "won"], &["send", "sends", "sent"], &["know", "knows", "knew"], &["think", "thinks", "thought"], &["grandma", "grandmother", "gran"], &["grandpa", "grandfather"], &["bro", "brother"], &["sis", "sister"], &["laptop", "computer", "pc"], &["couple", "two"], &["ages", "long"], &["deadline", "due"],
    &["ich", "er", "sie"], &["wohne", "wohnt", "lebe", "lebt", "gezogen", "umgezogen"], &["kinder", "kind", "sohn", "tochter"], &["antworten", "antwort", "antworte", "antwortest", "antwortet", "beantworten", "beantworte"], &["respuesta", "respuestas", "respondas", "responde", "respondes", "responder", "contestes", "contestar"], &["réponse", "réponses", "répond", "réponds", "répondre", "répondes"], &["risposta", "risposte", "rispondi", "rispondere", "risponda"], &["resposta", "respostas", "responde", "responda", "respondas", "responder"], &["antwoord", "antwoorden", "antwoordt"], &["explain", "explains", "explanation", "explanations"], &["called", "call", "calls", "nickname", "name", "goes"], &["bald", "soon", "demnächst"], &["due", "deadline", "deadlines"], &["geburtstag", "geboren", "werde", "wird"], &["cumpleaños", "cumplo", "nací", "nació"], &["anniversaire", "né", "née"], &["compleanno", "nato", "nata"], &["aniversário", "nasci", "nasceu"], &["verjaardag", "jarig", "geboren"], &["heiße", "heißt"],
    &["hijos", "hijo", "hija", "hijas"], &["vivo", "vive", "mudé"], &["enfants", "enfant", "fils", "fille"],
];

/// Numbers as words and as digits.
#[rustfmt::skip]
pub(super) const NUMBERS: &[(&str, &[&str])] = &[
    ("1", &["one", "first", "eins"]), ("2", &["two", "second", "zwei", "deux", "dos", "due", "dois", "duas", "twee", "twice", "both"]), ("3", &["three", "third", "drei", "trois", "tres", "tre", "drie"]), ("4", &["four", "fourth", "vier", "quatre", "cuatro", "quattro", "quatro"]), ("5", &["five", "fifth", "fünf", "cinq", "cinco", "cinque", "vijf"]), ("6", &["six", "sixth", "sechs", "seis", "sei", "zes"]), ("7", &["seven", "seventh", "sieben", "sept", "siete", "sette", "sete", "zeven"]), ("8", &["eight", "eighth", "acht", "huit", "ocho", "otto", "oito"]), ("9", &["nine", "ninth", "neun", "neuf", "nueve", "nove", "negen"]), ("10", &["ten", "tenth", "zehn", "dix", "diez", "dieci", "dez", "tien"]), ("11", &["eleven", "elf", "onze", "once", "undici"]), ("12", &["twelve", "zwölf", "douze", "doce", "dodici", "twaalf", "dozen"]), ("13", &["thirteen"]), ("14", &["fourteen"]), ("15", &["fifteen"]), ("16", &["sixteen"]), ("17", &["seventeen"]), ("18", &["eighteen"]), ("19", &["nineteen"]), ("20", &["twenty", "zwanzig", "vingt", "veinte", "venti", "vinte", "twintig"]), ("30", &["thirty", "dreißig", "trente", "treinta"]), ("40", &["forty"]), ("50", &["fifty"]), ("60", &["sixty"]), ("100", &["hundred"]), ("1000", &["thousand"]),
];
