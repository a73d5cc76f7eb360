/** Something to run for this server and this person, for pages that have nothing to show yet. */
import type { SignInView } from "@quipu/client";

/** Nothing for somebody who has come by a link: they have no key, and no wish for a shell. */
export function curl(
  path: string,
  body: string,
  { user, local, admin }: SignInView,
): string | undefined {
  if (!local && !admin) return undefined;
  const lines = [`curl ${location.origin}${path}`];
  if (!local) lines.push('  -H "Authorization: Bearer $QUIPU_KEY"');
  if (user !== "me") lines.push(`  -H 'X-Quipu-User: ${quoted(user)}'`);
  lines.push("  -H 'content-type: application/json'", `  -d '${quoted(body)}'`);
  return lines.join(" \\\n");
}

/** As it stands between single quotes in a shell. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}
