/** What the address of this page may carry after the question mark. */
export interface SignInSearch {
  /** Where to go afterwards; a place of this console, never another host. */
  to?: string;
}

export function signInSearch(said: Record<string, unknown>): SignInSearch {
  return { to: inside(said.to) };
}

function inside(to: unknown): string | undefined {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && !to.startsWith("/sign-in")
    ? to
    : undefined;
}
