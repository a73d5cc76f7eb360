/**
 * Routes. Every page is loaded when it is first opened; its search parameters are defined and typed in the
 * page's own `params.ts`.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
  useMatches,
} from "@tanstack/react-router";
import { t } from "../i18n/index.ts";
import { parseActivityParams } from "../pages/activity/params.ts";
import { parseChatParams } from "../pages/chat/params.ts";
import { type DeveloperTab, parseDeveloperParams } from "../pages/developer/params.ts";
import { parseInsightsParams } from "../pages/insights/params.ts";
import { parseMemoryDetailParams } from "../pages/memory/detail-params.ts";
import { parseMemoryParams } from "../pages/memory/params.ts";
import { type MyDataParams, parseMyDataParams } from "../pages/my-data/params.ts";
import { parsePlaygroundParams } from "../pages/playground/params.ts";
import { parseRevealParams } from "../pages/reveal/params.ts";
import { parseReviewParams } from "../pages/review/params.ts";
import { parseSettingsParams, type SettingsParams } from "../pages/settings/params.ts";
import { parseSignInParams } from "../pages/sign-in/params.ts";
import { parseSourcesParams } from "../pages/sources/params.ts";
import { buttonClasses } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { LiveProvider } from "./live-provider.tsx";
import { BrokenPage } from "./problems.tsx";
import { Shell } from "./shell.tsx";
import { SignInProvider } from "./sign-in-provider.tsx";

const RETRY_DELAY_MS = 2_000;

/**
 * Loads the code of a page, and retries while the server is unreachable. A failure while the server answers
 * means that the file is from another version: it is thrown, and the router reloads.
 */
function retryWhileOffline<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (;;) {
      try {
        return await load();
      } catch (error) {
        const answers = await fetch("/healthz").then(
          () => true,
          () => false,
        );
        if (answers) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS));
      }
    }
  };
}

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });

function Root() {
  // By the matched route, not by the address, which changes a moment earlier.
  const signingIn = useMatches({ select: (all) => all.some((one) => one.routeId === "/sign-in") });
  if (signingIn) return <Outlet />;
  return (
    <SignInProvider>
      <LiveProvider>
        <Shell />
      </LiveProvider>
    </SignInProvider>
  );
}

function NotFound() {
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-3 p-6 text-center">
      <h1 className="text-title">{t("shell.notFound.title")}</h1>
      <p className="text-muted">{t("shell.notFound.text")}</p>
      <Link to="/memory" className={buttonClasses()}>
        {t("shell.notFound.back")}
      </Link>
    </div>
  );
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/memory", replace: true });
  },
});

const memory = createRoute({
  getParentRoute: () => root,
  path: "/memory",
  validateSearch: parseMemoryParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/memory/index.tsx"))),
});

const oneMemory = createRoute({
  getParentRoute: () => root,
  path: "/memory/$id",
  validateSearch: parseMemoryDetailParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/memory/detail-page.tsx"))),
});

const review = createRoute({
  getParentRoute: () => root,
  path: "/review",
  validateSearch: parseReviewParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/review/index.tsx"))),
});

const reveal = createRoute({
  getParentRoute: () => root,
  path: "/reveal",
  validateSearch: parseRevealParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/reveal/index.tsx"))),
});

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: parseChatParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/chat/index.tsx"))),
});

// The same page, with one chat open: `useParams({ strict: false }).session`.
const oneChat = createRoute({
  getParentRoute: () => root,
  path: "/chat/$session",
  validateSearch: parseChatParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/chat/index.tsx"))),
});

const sources = createRoute({
  getParentRoute: () => root,
  path: "/sources",
  validateSearch: parseSourcesParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/sources/index.tsx"))),
});

const playground = createRoute({
  getParentRoute: () => root,
  path: "/playground",
  validateSearch: parsePlaygroundParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/playground/index.tsx"))),
});

const insights = createRoute({
  getParentRoute: () => root,
  path: "/insights",
  validateSearch: parseInsightsParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/insights/index.tsx"))),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: parseActivityParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/activity/index.tsx"))),
});

const developer = createRoute({
  getParentRoute: () => root,
  path: "/developer",
  validateSearch: parseDeveloperParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/developer/index.tsx"))),
});

const data = createRoute({
  getParentRoute: () => root,
  path: "/data",
  validateSearch: (params: Record<string, unknown>): MyDataParams & { moved?: boolean } => ({
    ...parseMyDataParams(params),
    ...(params.tab === "activity" && { moved: true }),
  }),
  // The activity was a tab of this page.
  beforeLoad: ({ search }) => {
    if (search.moved) throw redirect({ to: "/activity", replace: true });
  },
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/my-data/index.tsx"))),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: (params: Record<string, unknown>): SettingsParams & { moved?: DeveloperTab } => {
    const { tab: moved } = parseDeveloperParams(params);
    return { ...parseSettingsParams(params), ...(moved && { moved }) };
  },
  // The tabs for developers were tabs of this page.
  beforeLoad: ({ search: { moved: tab } }) => {
    if (tab) throw redirect({ to: "/developer", search: { tab }, replace: true });
  },
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/settings/index.tsx"))),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: parseSignInParams,
  component: lazyRouteComponent(retryWhileOffline(() => import("../pages/sign-in/index.tsx"))),
});

const routeTree = root.addChildren([
  home,
  memory,
  oneMemory,
  review,
  reveal,
  chat,
  oneChat,
  sources,
  playground,
  insights,
  activity,
  data,
  settings,
  developer,
  signIn,
]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultPendingComponent: () => <Spinner page />,
  defaultErrorComponent: ({ error, reset }) => <BrokenPage error={error} reset={reset} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
