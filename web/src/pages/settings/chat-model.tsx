/** The model that answers in the console's chats. */
import { useSignIn } from "../../base/sign-in.ts";
import { isGuide } from "../../data/gateway.ts";
import { ModelHelp } from "../../features/model/help.tsx";
import { useModels } from "../../features/model/models.ts";
import { t } from "../../i18n/index.ts";
import { Card } from "../../ui/card.tsx";

export function ChatModel() {
  const { permissions } = useSignIn();
  return permissions.includes("chat") ? <Chosen /> : null;
}

function Chosen() {
  const { local } = useSignIn();
  const { model, choose } = useModels();
  const guide = isGuide(model);
  // Elsewhere the operator has connected it.
  if (model === undefined || !(guide || local)) return null;
  return (
    <Card aria-label={t("settings.model.title")} title={t("settings.model.title")}>
      <ModelHelp guide={guide} choose={choose} />
    </Card>
  );
}
