/** Something to run for this server and this person, for pages that have nothing to show yet. */
export function curl(path: string, body: string, user: string): string {
  const lines = [`curl ${location.origin}${path}`];
  if (user !== "me") lines.push(`  -H 'X-Quipu-User: ${user}'`);
  lines.push("  -H 'content-type: application/json'", `  -d '${body}'`);
  return lines.join(" \\\n");
}
