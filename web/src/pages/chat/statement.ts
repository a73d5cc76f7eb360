/** Whether a message says something that could be kept, for the guide, which does not understand it. Pure. */

const MIN_WORDS = 3;
const MAX_LENGTH = 500;
/** How questions begin, also without a question mark. */
const QUESTION = new RegExp(
  `^(?:${[
    "what|when|where|who|whose|why|which|how|do|does|did|is|are|was|were|can|could|would|should|tell me",
    "wann|wo|wohin|woher|wer|wem|wen|warum|weshalb|wieso|wie|welche[rsnm]?|weißt|kannst|könntest|hast|bist",
  ].join("|")})(?![\\p{L}\\p{N}])`,
  "iu",
);

export function isStatement(message: string): boolean {
  const text = message.trim();
  if (text.length > MAX_LENGTH || text.split(/\s+/).length < MIN_WORDS) return false;
  return !/[?？؟]/.test(text) && !QUESTION.test(text);
}

/** How the guide answers what it does not understand, in its languages. */
const HELP = /^(?:No model is connected yet|Hier antwortet noch kein Modell)/;

export function isGuideHelp(answer: string): boolean {
  return HELP.test(answer);
}
