/** Search parameters of the sign-in page. */
export interface SignInParams {
  /** The page to open afterwards; a path of this console, never another host. */
  to?: string;
}

export function parseSignInParams(params: Record<string, unknown>): SignInParams {
  return { to: internalPath(params.to) };
}

/** Whether a page is rendered by the server, so that the browser has to load it. */
export function isServerPage(path: string): boolean {
  return path.startsWith("/oauth/");
}

function internalPath(to: unknown): string | undefined {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && !to.startsWith("/sign-in")
    ? to
    : undefined;
}
