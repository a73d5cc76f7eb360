/** Something to run in a terminal that asks this server about this person. Pure. */
export interface From {
  /** Whom it is about; nobody has to be named where a key or a machine has one person only. */
  user?: string;
  /** Whether this is one person's machine, where nobody is asked for a key. */
  local?: boolean;
  /** The key itself, where it is shown anyway; otherwise its name stands in. */
  key?: string;
  origin?: string;
}

/**
 * For pages that have nothing to show yet. Nothing for somebody who has come by a link: they have no key,
 * and no wish for a shell.
 */
export function curl(
  path: string,
  body: object | string,
  from: From & { admin: boolean },
): string | undefined {
  return from.local || from.admin ? command(path, body, from) : undefined;
}

/** With a body, which may be written as JSON already, it is a `POST`, as curl has it. */
export function command(path: string, body: object | string | undefined, from: From): string {
  const { user, local = false, key = "$LUKASA_KEY", origin = location.origin } = from;
  const lines = [`curl ${origin}${path}`];
  if (!local) lines.push(`  -H "Authorization: Bearer ${key}"`);
  if (user && !(local && user === "me")) lines.push(`  -H ${quoted(`X-Lukasa-User: ${user}`)}`);
  if (body) {
    lines.push("  -H 'content-type: application/json'");
    lines.push(`  -d ${quoted(typeof body === "string" ? body : JSON.stringify(body))}`);
  }
  return lines.join(" \\\n");
}

/** One word for a shell, whatever is in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
