/**
 * Who is signed in, and the API client for them. Scripts cannot read the cookie; the page only knows the
 * response of `GET /api/sign-in`.
 */

import { useQueryClient } from "@tanstack/react-query";
import {
  Lukasa,
  type SignedReceiptView,
  type SignIn,
  type SignInMethods,
  type SignInView,
} from "lukasa-client";
import { createContext, useContext, useMemo } from "react";

const SHOWN_USER_KEY = "lukasa.user";
const SIGNED_OUT_KEY = "lukasa.signed-out";
const client = new Lukasa({ url: "" });

/** Who is signed in and which user is shown. In local mode the shown user is stored in session storage. */
export async function signedIn(): Promise<SignInView> {
  const view = await client.signIn.get();
  return view.local ? { ...view, user: shownUser() ?? view.user } : view;
}

/** The identity providers that users can sign in with. */
export function signInMethods(): Promise<SignInMethods> {
  return client.signIn.methods();
}

/** Whether the user has signed out in this tab. */
export function hasSignedOut(): boolean {
  return sessionStorage.getItem(SIGNED_OUT_KEY) !== null;
}

/** The user that local mode shows in this tab, if it is not the default one. */
export function shownUser(): string | null {
  return sessionStorage.getItem(SHOWN_USER_KEY);
}

/** Shows the user that the address names (`?user=`) in this tab, if the server is in local mode. */
export function showNamedUser(): void {
  const address = new URL(location.href);
  const user = address.searchParams.get("user");
  if (!user) return;
  sessionStorage.setItem(SHOWN_USER_KEY, user);
  address.searchParams.delete("user");
  history.replaceState(history.state, "", address);
}

export interface CurrentSignIn {
  signIn: SignInView;
  lukasa: Lukasa;
}

/** Set by `SignInProvider` of the app. */
export const SignInContext = createContext<CurrentSignIn | null>(null);

function useSignInContext(): CurrentSignIn {
  const context = useContext(SignInContext);
  if (!context) throw new Error("the sign-in is only available inside SignInProvider");
  return context;
}

/** Who is signed in. */
export function useSignIn(): SignInView {
  return useSignInContext().signIn;
}

/** The API client: signed in as the caller, for the shown user. */
export function useLukasa(): Lukasa {
  return useSignInContext().lukasa;
}

/** Signing in, signing out, and switching the shown user. Each clears the cached data. */
export function useSignInActions() {
  const queries = useQueryClient();
  return useMemo(
    () => ({
      async enter(how: SignIn): Promise<void> {
        await client.signIn.create(how, { retries: 0 });
        sessionStorage.removeItem(SIGNED_OUT_KEY);
        queries.clear();
      },
      async leave(): Promise<void> {
        await client.signIn.end();
        sessionStorage.setItem(SIGNED_OUT_KEY, "1");
        queries.clear();
        location.assign("/sign-in");
      },
      async lookAt(signIn: SignInView, user: string): Promise<void> {
        if (signIn.local) sessionStorage.setItem(SHOWN_USER_KEY, user);
        else await client.signIn.create({ user }, { retries: 0 });
        location.assign("/memory");
      },
      /** Shows that everything about the user is erased, instead of sending requests for a missing user.
       * There is no receipt yet while the rest is removed in the background. */
      showErasedUser(receipt?: SignedReceiptView | null): void {
        if (receipt) queries.setQueryData(["erased-user"], receipt);
        else location.reload();
      },
    }),
    [queries],
  );
}
