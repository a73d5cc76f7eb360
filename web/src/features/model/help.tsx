/** Who answers without a model, how to connect one, and what learning needs besides. */
import { lazy, Suspense } from "react";
import { useSignIn } from "../../base/sign-in.ts";
import { t } from "../../i18n/index.ts";
import { Snippet } from "../../ui/snippet.tsx";

// Loaded where a model can be set up.
const ModelSetup = lazy(() => import("./index.tsx"));

export function ModelHelp({
  guide,
  choose,
  open,
}: {
  /** Whether there is no model, so that the guide answers. */
  guide: boolean;
  /** Chooses the model that answers. */
  choose: (model: string) => void;
  /** Whether the form is shown at once. */
  open?: boolean;
}) {
  // Users signed in by link cannot configure a model.
  const { admin, local } = useSignIn();
  return (
    <div className="flex flex-col gap-2 text-meta text-muted empty:hidden">
      {guide && (
        <p className="text-center">
          {t("chat.noModel")}
          {!local && ` ${t(admin ? "chat.noModelAdmin" : "chat.noModelUser")}`}
        </p>
      )}
      {guide && !local && admin && (
        <Snippet code="lukasa serve --upstream http://localhost:11434/v1" />
      )}
      {local && (
        <Suspense>
          <ModelSetup guide={guide} choose={choose} open={open} />
        </Suspense>
      )}
      {guide && (local || admin) && <p className="text-center">{t("chat.learningModel")}</p>}
    </div>
  );
}
