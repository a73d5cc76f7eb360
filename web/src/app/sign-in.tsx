/**
 * Who is signed in, and the API client for them. Scripts cannot read the cookie; the page only knows the
 * response of `GET /api/sign-in`.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useLocation } from "@tanstack/react-router";
import {
  Lukasa,
  LukasaError,
  type SignedReceiptView,
  type SignIn,
  type SignInView,
} from "lukasa-client";
import { createContext, lazy, type ReactNode, Suspense, useContext, useMemo } from "react";
import { Spinner } from "../ui/spinner.tsx";
import { ProblemCard } from "./problems.tsx";

// Loaded lazily: it is rarely shown.
const Gone = lazy(async () => ({ default: (await import("./gone.tsx")).Gone }));

const SHOWN_USER_KEY = "lukasa.user";
const client = new Lukasa({ url: "" });

/** Who is signed in and which user is shown. In local mode the shown user is stored in session storage. */
export async function signedIn(): Promise<SignInView> {
  const view = await client.signIn.get();
  return view.local ? { ...view, user: sessionStorage.getItem(SHOWN_USER_KEY) ?? view.user } : view;
}

interface SignInContext {
  signIn: SignInView;
  lukasa: Lukasa;
}

const Current = createContext<SignInContext | null>(null);

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
    queryKey: ["gone"],
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { href, pathname } = useLocation();
  const context = useMemo<SignInContext | null>(() => {
    if (!query.data) return null;
    // The cookie identifies the user; only local mode has to name one.
    const user = query.data.local ? query.data.user : undefined;
    return { signIn: query.data, lukasa: new Lukasa({ url: "", user }) };
  }, [query.data]);
  const erased = query.error instanceof LukasaError && query.error.code === "user_deleted";
  if (receipt.data || erased) {
    return (
      <Suspense fallback={<Spinner page />}>
        <Gone
          user={query.data?.user ?? sessionStorage.getItem(SHOWN_USER_KEY) ?? "me"}
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
    <Current key={context.signIn.user} value={context}>
      {children}
    </Current>
  );
}

function useSignInContext(): SignInContext {
  const context = useContext(Current);
  if (!context) throw new Error("the sign-in is only available inside SignInProvider");
  return context;
}

export function useSignIn(): SignInView {
  return useSignInContext().signIn;
}

/** The API client: signed in as the caller, for the shown user. */
export function useLukasa(): Lukasa {
  return useSignInContext().lukasa;
}

/** Signing in, signing out, and switching the shown user. Each clears the cached data. */
export function useSignInActs() {
  const queries = useQueryClient();
  return useMemo(
    () => ({
      async enter(how: SignIn): Promise<void> {
        await client.signIn.enter(how, { retries: 0 });
        queries.clear();
      },
      async leave(): Promise<void> {
        await client.signIn.leave();
        queries.clear();
        location.assign("/sign-in");
      },
      async lookAt(signIn: SignInView, user: string): Promise<void> {
        if (signIn.local) sessionStorage.setItem(SHOWN_USER_KEY, user);
        else await client.signIn.enter({ user }, { retries: 0 });
        location.assign("/memory");
      },
      /** Shows that everything about the user is erased, instead of sending requests for a missing user.
       * There is no receipt yet while the rest is removed in the background. */
      gone(receipt?: SignedReceiptView | null): void {
        if (receipt) queries.setQueryData(["gone"], receipt);
        else location.reload();
      },
    }),
    [queries],
  );
}
