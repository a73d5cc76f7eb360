/**
 * Who is signed in, and the client that speaks for them. The cookie is the server's and out of reach for
 * scripts; this page only knows what `GET /api/sign-in` tells.
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

// Hardly anybody ever sees it.
const Gone = lazy(async () => ({ default: (await import("./gone.tsx")).Gone }));

const LOOKING_AT = "lukasa.user";
const bare = new Lukasa({ url: "" });

/** Who is looking at whose memory. Where nobody signs in, whom to look at is the page's own affair. */
export async function signedIn(): Promise<SignInView> {
  const view = await bare.signIn.get();
  return view.local ? { ...view, user: sessionStorage.getItem(LOOKING_AT) ?? view.user } : view;
}

interface Held {
  signIn: SignInView;
  lukasa: Lukasa;
}

const Current = createContext<Held | null>(null);

/** Shows its children to whoever is signed in, and everybody else the way to sign in. */
export function SignInProvider({ children }: { children: ReactNode }) {
  const query = useQuery({
    queryKey: ["sign-in"],
    queryFn: signedIn,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Put there by whoever erased everything; then nobody is left to ask the server about.
  const receipt = useQuery<SignedReceiptView | null>({
    queryKey: ["gone"],
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { href, pathname } = useLocation();
  const held = useMemo<Held | null>(() => {
    if (!query.data) return null;
    // Who has signed in is known by the cookie; only a machine's own person has to say whom they mean.
    const user = query.data.local ? query.data.user : undefined;
    return { signIn: query.data, lukasa: new Lukasa({ url: "", user }) };
  }, [query.data]);
  const erased = query.error instanceof LukasaError && query.error.code === "user_deleted";
  if (receipt.data || erased) {
    return (
      <Suspense fallback={<Spinner page />}>
        <Gone
          user={query.data?.user ?? sessionStorage.getItem(LOOKING_AT) ?? "me"}
          receipt={receipt.data ?? undefined}
          signedOut={query.data?.admin === false}
        />
      </Suspense>
    );
  }
  if (query.error instanceof LukasaError && query.error.status === 401) {
    // On its way there already.
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
  if (!held) return <Spinner page />;
  return (
    <Current key={held.signIn.user} value={held}>
      {children}
    </Current>
  );
}

function useHeld(): Held {
  const held = useContext(Current);
  if (!held) throw new Error("only pages behind the sign-in know who is signed in");
  return held;
}

export function useSignIn(): SignInView {
  return useHeld().signIn;
}

/** The client, speaking for whoever is signed in about whoever is shown. */
export function useLukasa(): Lukasa {
  return useHeld().lukasa;
}

/** Signing in, signing out, and looking at somebody else. Each forgets what was shown before. */
export function useSignInActs() {
  const queries = useQueryClient();
  return useMemo(
    () => ({
      async enter(how: SignIn): Promise<void> {
        await bare.signIn.enter(how, { retries: 0 });
        queries.clear();
      },
      async leave(): Promise<void> {
        await bare.signIn.leave();
        queries.clear();
        location.assign("/sign-in");
      },
      async lookAt(signIn: SignInView, user: string): Promise<void> {
        if (signIn.local) sessionStorage.setItem(LOOKING_AT, user);
        else await bare.signIn.enter({ user }, { retries: 0 });
        location.assign("/memory");
      },
      /** Everything about the user is erased: says so, instead of sending requests for no user. There is no
       * receipt yet while the rest is removed in the background. */
      gone(receipt?: SignedReceiptView | null): void {
        if (receipt) queries.setQueryData(["gone"], receipt);
        else location.reload();
      },
    }),
    [queries],
  );
}
