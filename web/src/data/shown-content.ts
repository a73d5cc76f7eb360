/** The words of a memory as lists show them. What is stored does not change. Pure. */

/** Learned memories say "User works nights", among others that begin with a verb. */
const VERB =
  "(?:\\p{Ll}{2,}(?:s|ed)|is|has|was|had|can|cannot|could|may|might|must|should|will|would|never)";
const SUBJECT = new RegExp(`^(?:the )?user (?=${VERB} )`, "iu");

/** The content without "User" or "The user" as its subject, such as "Works nights as a nurse." */
export function shownContent(content: string): string {
  const rest = content.replace(SUBJECT, "");
  return rest === content ? content : rest.charAt(0).toUpperCase() + rest.slice(1);
}
