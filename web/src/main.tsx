import { CSPProvider } from "@base-ui/react/csp-provider";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { LukasaError } from "lukasa-client";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/routes.tsx";
import { followTheme } from "./app/theme.ts";
import { preferences, usePreferences } from "./base/preferences.ts";
import { showNamedUser } from "./base/sign-in.ts";
import { speak } from "./i18n/index.ts";
import { TooltipProvider } from "./ui/tooltip.tsx";
import "./styles.css";

showNamedUser();

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      // The sign-in has expired: refetching it redirects to the sign-in page.
      if (error instanceof LukasaError && error.status === 401 && query.queryKey[0] !== "sign-in") {
        void queries.invalidateQueries({ queryKey: ["sign-in"] });
      }
    },
  }),
  defaultOptions: {
    // The client retries, and live events invalidate stale data. A browser without a network still reaches a
    // server on the same machine, so requests are always sent.
    queries: {
      retry: false,
      refetchOnWindowFocus: false,
      staleTime: 30_000,
      networkMode: "always",
    },
  },
});

function Console() {
  const { language } = usePreferences();
  const [loaded, setLoaded] = useState(language);
  useEffect(() => {
    void speak(language).then(() => setLoaded(language));
  }, [language]);
  return (
    // Base UI may add no style elements: the content security policy forbids them.
    <CSPProvider disableStyleElements>
      <DirectionProvider direction={loaded === "xx-RTL" ? "rtl" : "ltr"}>
        <QueryClientProvider client={queries}>
          <TooltipProvider delay={400}>
            <RouterProvider key={loaded} router={router} />
          </TooltipProvider>
        </QueryClientProvider>
      </DirectionProvider>
    </CSPProvider>
  );
}

followTheme();
const place = document.getElementById("root");
// Render after the translation is loaded.
if (place) {
  void speak(preferences().language).then(() =>
    createRoot(place).render(
      <StrictMode>
        <Console />
      </StrictMode>,
    ),
  );
}
