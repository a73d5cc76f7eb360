/** curl commands for this server and user. Pure. */
export interface From {
  /** The user; not needed for a key of one user or in local mode. */
  user?: string;
  /** Whether the server runs in local mode, where no key is needed. */
  local?: boolean;
  /** The key itself, where it is shown anyway; the name of its variable by default. */
  key?: string;
  origin?: string;
}

/**
 * A command for empty states. `undefined` for users signed in by link: they have no key.
 */
export function curl(
  path: string,
  body: object | string,
  from: From & { admin: boolean },
): string | undefined {
  return from.local || from.admin ? command(path, body, from) : undefined;
}

/** A curl command. With a body, an object or JSON text, curl sends a `POST`. */
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

/** Quotes a text as one shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
