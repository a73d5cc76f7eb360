/**
 * Who is signed in, and the client that speaks for them. The cookie is the server's and out of reach for
 * scripts; this page only knows what `GET /api/session` tells.
 */
import { Quipu, QuipuError } from "@quipu/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useLocation } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { Spinner } from "../ui/spinner.tsx";
import { ProblemCard } from "./problems.tsx";

export interface Session {
  /** Whose memory is shown. */
  user: string;
  human: boolean;
  admin: boolean;
  /** The server asks nobody to sign in: it listens on this machine only. */
  local: boolean;
  permissions: string[];
  expires_at: string | null;
  version: string;
  /** Whether there are several users to choose from. */
  users: boolean;
}

/** What opens a session: a key, a one-time link, or for an operator another user. */
export type Opening = { key: string; user?: string } | { link: string } | { user: string };

const LOCAL: Session = {
  user: "me",
  human: true,
  admin: true,
  local: true,
  permissions: [],
  expires_at: null,
  version: "",
  users: true,
};

const LOOKING_AT = "quipu.user";
const bare = new Quipu({ url: "" });

async function currentSession(): Promise<Session> {
  try {
    const session = (await (await bare.send("GET", "/api/session")).json()) as Session;
    return session.local ? lookingAt(session) : session;
  } catch (error) {
    // A server without sessions asks nobody to sign in.
    if (error instanceof QuipuError && error.status === 404) return lookingAt(LOCAL);
    throw error;
  }
}

/** Where nobody signs in, whom to look at is the page's own affair. */
function lookingAt(session: Session): Session {
  return { ...session, user: sessionStorage.getItem(LOOKING_AT) ?? session.user };
}

interface Held {
  session: Session;
  quipu: Quipu;
}

const Current = createContext<Held | null>(null);

/** Shows its children to whoever is signed in, and everybody else the way to sign in. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const session = useQuery({
    queryKey: ["session"],
    queryFn: currentSession,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { href } = useLocation();
  const held = useMemo<Held | null>(() => {
    if (!session.data) return null;
    const user = session.data.local && session.data.user !== "me" ? session.data.user : undefined;
    return { session: session.data, quipu: new Quipu({ url: "", user }) };
  }, [session.data]);
  if (session.error instanceof QuipuError && session.error.status === 401) {
    return <Navigate to="/sign-in" search={{ to: href }} replace />;
  }
  if (session.error) {
    return (
      <div className="mx-auto max-w-lg p-6">
        <ProblemCard error={session.error} retry={() => session.refetch()} />
      </div>
    );
  }
  if (!held) return <Spinner page />;
  return (
    <Current key={`${held.session.user}`} value={held}>
      {children}
    </Current>
  );
}

function useHeld(): Held {
  const held = useContext(Current);
  if (!held) throw new Error("only pages behind the sign-in have a session");
  return held;
}

export function useSession(): Session {
  return useHeld().session;
}

/** The client, speaking for whoever is signed in about whoever is shown. */
export function useQuipu(): Quipu {
  return useHeld().quipu;
}

/** Signing in, signing out, and looking at somebody else. Each forgets what was shown before. */
export function useSessionActions() {
  const queries = useQueryClient();
  return useMemo(
    () => ({
      async open(opening: Opening): Promise<void> {
        await bare.send("POST", "/api/session", { body: opening, retries: 0 });
        queries.clear();
      },
      async signOut(): Promise<void> {
        await bare.send("DELETE", "/api/session");
        queries.clear();
        location.assign("/sign-in");
      },
      async lookAt(session: Session, user: string): Promise<void> {
        if (session.local) sessionStorage.setItem(LOOKING_AT, user);
        else await bare.send("POST", "/api/session", { body: { user }, retries: 0 });
        location.assign("/memory");
      },
    }),
    [queries],
  );
}
