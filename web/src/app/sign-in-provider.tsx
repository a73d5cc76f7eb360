/** Provides the sign-in and the API client to all pages. */

import { useQuery } from "@tanstack/react-query";
import { Navigate, useLocation } from "@tanstack/react-router";
import { Lukasa, LukasaError, type SignedReceiptView } from "lukasa-client";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { type CurrentSignIn, SignInContext, shownUser, signedIn } from "../base/sign-in.ts";
import { ProblemCard } from "../ui/problem-card.tsx";
import { Spinner } from "../ui/spinner.tsx";

// Loaded lazily: it is rarely shown.
const ErasedUser = lazy(async () => ({ default: (await import("./erased-user.tsx")).ErasedUser }));

/** Renders its children when signed in, and otherwise redirects to the sign-in page. */
export function SignInProvider({ children }: { children: ReactNode }) {
  const query = useQuery({
    queryKey: ["sign-in"],
    queryFn: signedIn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Set after everything about the user was erased; the server then has no user to answer for.
  const receipt = useQuery<SignedReceiptView | null>({
    queryKey: ["erased-user"],
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { href, pathname } = useLocation();
  const context = useMemo<CurrentSignIn | null>(() => {
    if (!query.data) return null;
    // The cookie identifies the user; only local mode has to name one.
    const user = query.data.local ? query.data.user : undefined;
    return { signIn: query.data, lukasa: new Lukasa({ url: "", user }) };
  }, [query.data]);
  const erased = query.error instanceof LukasaError && query.error.code === "user_deleted";
  if (receipt.data || erased) {
    return (
      <Suspense fallback={<Spinner page />}>
        <ErasedUser
          user={query.data?.user ?? shownUser() ?? "me"}
          receipt={receipt.data ?? undefined}
          signedOut={query.data?.admin === false}
        />
      </Suspense>
    );
  }
  if (query.error instanceof LukasaError && query.error.status === 401) {
    // Already navigating there.
    if (pathname === "/sign-in") return <Spinner page />;
    return <Navigate to="/sign-in" search={{ to: href }} replace />;
  }
  if (query.error) {
    return (
      <div className="mx-auto max-w-lg p-6">
        <ProblemCard error={query.error} retry={() => query.refetch()} />
      </div>
    );
  }
  if (!context) return <Spinner page />;
  return (
    <SignInContext key={context.signIn.user} value={context}>
      {children}
    </SignInContext>
  );
}
