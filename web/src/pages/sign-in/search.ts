/** Search parameters of the sign-in page. */
export interface SignInSearch {
  /** The page to open afterwards; a path of this console, never another host. */
  to?: string;
}

export function signInSearch(params: Record<string, unknown>): SignInSearch {
  return { to: inside(params.to) };
}

function inside(to: unknown): string | undefined {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && !to.startsWith("/sign-in")
    ? to
    : undefined;
}
