/**
 * Puts a statement about the user into the second person: "User works nights", "I work nights" and
 * "Works nights" all become "You work nights". In English and German; what is in neither form stays as it is, such
 * as an instruction to the assistant. Pure.
 */

/** Verbs that statements begin with, as they are after "you". */
const ENGLISH_BASES =
  "accept admire adore answer apply appreciate arrive ask attend avoid bake bathe begin believe belong bike " +
  "bring build buy call care carry celebrate change check choose clean climb coach collect come commute " +
  "complain consider consult cook count create cycle dance decorate deliver deserve design develop dislike " +
  "donate dream drink drive earn eat edit employ enjoy exercise expect explore fear feed feel find finish fish " +
  "fix fly follow forget garden get give go grow handle hate help hike hope host hunt intend invest invite jog " +
  "join keep knit know lack lead learn leave lend like listen live look lose love maintain make manage marry " +
  "mean meditate meet mentor mind miss move need offer order organise organize own pack paint park pay perform " +
  "pick plan plant play practice practise pray prefer prepare produce program publish put raise reach read " +
  "recommend recycle refuse rely remember rent repair report require research resist return ride row run sail " +
  "save schedule see seek sell send serve sew share shop show sing ski skip sleep smoke snore speak spend stand " +
  "start stay stop store stream struggle study suffer suggest supervise support surf sweat swim take talk teach " +
  "tell tend test think tolerate track trade train translate travel treat trust try tutor type understand use " +
  "value visit volunteer vote wait wake walk want wash watch water wear weigh wish wonder work worry write";

const ENGLISH: Record<string, string> = {
  is: "are",
  was: "were",
  has: "have",
  does: "do",
  "isn't": "aren't",
  "wasn't": "weren't",
  "hasn't": "haven't",
  "doesn't": "don't",
};
for (const base of ENGLISH_BASES.split(" ")) ENGLISH[thirdPerson(base)] = base;

function thirdPerson(base: string): string {
  if (/(?:[sx]|[cs]h|go|do)$/.test(base)) return `${base}es`;
  return /[^aeou]y$/.test(base) ? `${base.slice(0, -1)}ies` : `${base}s`;
}

/** After "and" these are verbs for sure, and not the plural of a noun. */
const CLEAR = new Set(
  "is was has does lives likes loves prefers wants speaks eats hates enjoys owns avoids teaches learns".split(
    " ",
  ),
);
const ADVERBS =
  /^(usually|always|never|often|mostly|sometimes|rarely|currently|still|also|now|only|really)$/i;
const PARTICIPLES = new RegExp(
  "^(allergic|vegetarian|vegan|married|engaged|single|divorced|widowed|interested|afraid|intolerant|" +
    "left-handed|right-handed|pregnant|retired|self-employed|based|used)$",
  "i",
);
const GERUND = new RegExp(
  "^(living|working|learning|planning|training|looking|writing|studying|reading|moving|saving|trying|" +
    "building|preparing|thinking|expecting|renovating)$",
  "i",
);

const FIRST_PERSON: readonly [RegExp, string][] = [
  [/\bI[’']m\b|\bI am\b/g, "you are"],
  [/\bam I\b/g, "are you"],
  [/\bI was\b/g, "you were"],
  [/\bI[’']ve\b/g, "you have"],
  [/\bI[’']d\b/g, "you would"],
  [/\bI[’']ll\b/g, "you will"],
  [/\bI\b/g, "you"],
  [/\b[Mm]yself\b/g, "yourself"],
  [/\b[Mm]ine\b/g, "yours"],
  [/\b[Mm]y\b/g, "your"],
  [/\b[Mm]e\b/g, "you"],
];

/** From the third person to the second; the first person, and regular verbs, are derived from it. */
const GERMAN: Record<string, string> = {
  ist: "bist",
  war: "warst",
  hat: "hast",
  hatte: "hattest",
  wird: "wirst",
  mag: "magst",
  möchte: "möchtest",
  will: "willst",
  kann: "kannst",
  darf: "darfst",
  muss: "musst",
  soll: "sollst",
  weiß: "weißt",
  isst: "isst",
  liest: "liest",
  heißt: "heißt",
  reist: "reist",
  hasst: "hasst",
  nutzt: "nutzt",
  sitzt: "sitzt",
  vergisst: "vergisst",
  arbeitet: "arbeitest",
  vermeidet: "vermeidest",
  verwendet: "verwendest",
  leidet: "leidest",
  findet: "findest",
  wartet: "wartest",
  spricht: "sprichst",
  schläft: "schläfst",
  fährt: "fährst",
  läuft: "läufst",
  trägt: "trägst",
};
for (const verb of (
  "wohnt lebt trinkt kocht lernt plant liebt bevorzugt braucht spielt sucht kauft geht kommt schreibt " +
  "steht zieht baut fliegt studiert hört schaut sammelt wünscht"
).split(" "))
  GERMAN[verb] = `${verb.slice(0, -1)}${verb.endsWith("scht") ? "" : "s"}t`;
const GERMAN_FIRST: Record<string, string> = {
  bin: "bist",
  habe: "hast",
  hab: "hast",
  werde: "wirst",
  lese: "liest",
  esse: "isst",
  vergesse: "vergisst",
  spreche: "sprichst",
  schlafe: "schläfst",
  fahre: "fährst",
  laufe: "läufst",
  trage: "trägst",
};
const GERMAN_POSSESSIVE: readonly [RegExp, string][] = [
  [/\b([Mm])ein(e[mnrs]?)?\b/g, "$1ein$2"],
  [/\bmich\b/g, "dich"],
  [/\bmir\b/g, "dir"],
  [/\bMich\b/g, "Dich"],
  [/\bMir\b/g, "Dir"],
];

export function secondPerson(statement: string): string {
  const text = statement.trim();
  // The words of a quotation are another person's.
  if (/["“”„«»]/.test(text)) return text;
  return capital(german(text) ?? english(text));
}

function english(text: string): string {
  const named = /^(?:the )?user(?:[’']s)? +/i.exec(text);
  if (named) {
    const rest = text.slice(named[0].length);
    if (/[’']s +$/.test(named[0])) return `your ${rest}`;
    return predicate(rest) ?? text;
  }
  if (/\b(?:I|I[’'](?:m|ve|d|ll)|[Mm]y|[Mm]yself|[Mm]e|[Mm]ine)\b/.test(text))
    return FIRST_PERSON.reduce((said, [from, to]) => said.replace(from, to), text);
  return predicate(text) ?? text;
}

/** "Lives in Lyon and has two cats" as "you live in Lyon and have two cats"; absent if it begins with no verb. */
function predicate(text: string): string | undefined {
  const [first = "", second = ""] = text.split(" ");
  const rest = (words: number) => joined(text.split(" ").slice(words).join(" "));
  const verb = ENGLISH[first.toLowerCase()];
  if (verb) return `you ${verb} ${rest(1)}`.trimEnd();
  const later = ENGLISH[second.toLowerCase()];
  if (ADVERBS.test(first) && later) {
    const adverb = first.toLowerCase();
    const said = later === "are" || later === "were" ? `${later} ${adverb}` : `${adverb} ${later}`;
    return `you ${said} ${rest(2)}`;
  }
  if (/^born$/i.test(first)) return `you were born ${rest(1)}`;
  if (PARTICIPLES.test(first.replace(/[.,]$/, "")) || GERUND.test(first))
    return `you are ${first.toLowerCase()} ${rest(1)}`.trimEnd();
  return undefined;
}

/** Verbs after "and" have the same subject. */
function joined(rest: string): string {
  return rest.replace(/\b(and|but|or) (\w+)\b/g, (all, word: string, verb: string) =>
    CLEAR.has(verb) ? `${word} ${ENGLISH[verb]}` : all,
  );
}

/** Absent if the text is not German, or begins in neither form. */
function german(text: string): string | undefined {
  const named = /^(?:der |die )?nutzer(?:in)? (\p{L}+)/iu.exec(text) ?? /^(\p{L}+)/u.exec(text);
  const verb = named?.[1]?.toLowerCase() ?? "";
  const own = (said: string) =>
    GERMAN_POSSESSIVE.reduce(
      (now, [from, to]) =>
        now.replace(from, (_, ...groups: string[]) =>
          to.startsWith("$1") ? `${groups[0] === "M" ? "D" : "d"}ein${groups[1] ?? ""}` : to,
        ),
      said,
    );
  if (/\bich\b/i.test(text)) {
    // The verb of a subordinate clause is at its end.
    if (/\b(weil|dass|wenn|ob|da|als|bevor|obwohl|damit|die|der|das|was|wo) ich\b/i.test(text))
      return text;
    return own(
      text.replace(
        /(\p{L}+ )?\bich\b( \p{L}+)?/giu,
        (_, before: string | undefined, after: string | undefined) => {
          const verbBefore = germanFirst(before?.trim() ?? "");
          if (verbBefore) return `${verbBefore} du${after ?? ""}`;
          const word = after?.trim() ?? "";
          return `${before ?? ""}du${after === undefined ? "" : ` ${germanFirst(word) ?? word}`}`;
        },
      ),
    );
  }
  const second = GERMAN[verb];
  // "war" and "will" are words of both languages.
  const isGerman = named && second && (named[0].includes(" ") || !["war", "will"].includes(verb));
  if (isGerman) return own(`du ${second}${text.slice(named[0].length)}`);
  return /\b[Mm]eine?[mnrs]?\b/.test(text) ? own(text) : undefined;
}

/** The second person of a verb in the first; absent if the word is none. */
function germanFirst(word: string): string | undefined {
  const irregular = GERMAN_FIRST[word.toLowerCase()] ?? GERMAN[word.toLowerCase()];
  if (irregular) return irregular;
  const stem = /^(\p{Ll}+[^e\s])e$/u.exec(word)?.[1];
  if (!stem || /^(ohne|heute|gerne|keine|meine|deine|seine|eine|diese|viele|alle)$/.test(word))
    return undefined;
  if (/[sßzx]$/.test(stem)) return `${stem}t`;
  return /[td]$/.test(stem) ? `${stem}est` : `${stem}st`;
}

function capital(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
