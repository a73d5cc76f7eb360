/** The account menu: who is signed in, appearance, switching the user, signing out. */
import { ChevronsUpDown, LogOut, Monitor, Moon, Sun, UserSearch } from "lucide-react";
import { type FormEvent, lazy, Suspense, useState } from "react";
import { prefer, usePreferences } from "../base/preferences.ts";
import { explanationOf } from "../base/problems.ts";
import { useSignIn, useSignInActions } from "../base/sign-in.ts";
import { showToast } from "../base/toasts.ts";
import { LANGUAGES, type Language, t } from "../i18n/index.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, Input } from "../ui/field.tsx";
import { Menu, MenuChoice, MenuItem, MenuLine } from "../ui/menu.tsx";

const PauseItem = lazy(async () => ({
  default: (await import("../features/pause/index.tsx")).PauseItem,
}));

export function UserMenu() {
  const signIn = useSignIn();
  const { leave } = useSignInActions();
  const { theme, density, language } = usePreferences();
  const [choosing, setChoosing] = useState(false);
  const how = signIn.local
    ? "shell.user.local"
    : signIn.human
      ? "shell.user.human"
      : "shell.user.key";
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className="flex min-h-11 items-center gap-2.5 rounded-control px-2 text-start hover:bg-hover data-[popup-open]:bg-hover"
          >
            <span
              aria-hidden
              className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft font-medium text-accent-text uppercase"
            >
              {signIn.user.slice(0, 1)}
            </span>
            <span className="sr-only">{t("shell.user.menu")}</span>
            <bdi className="min-w-0 flex-1 truncate">{signIn.user}</bdi>
            <ChevronsUpDown size={14} aria-hidden className="text-faint" />
          </button>
        }
      >
        <p className="max-w-60 px-2 pt-1.5 pb-1 text-fine text-muted">
          {t(how)}
          <span className="block">Lukasa {signIn.version}</span>
        </p>
        <MenuChoice
          label={t("shell.theme.name")}
          value={theme}
          onChange={(chosen) => prefer({ theme: chosen })}
          choices={[
            { value: "light", text: t("shell.theme.light"), icon: <Sun size={14} aria-hidden /> },
            { value: "dark", text: t("shell.theme.dark"), icon: <Moon size={14} aria-hidden /> },
            {
              value: "system",
              text: t("shell.theme.system"),
              icon: <Monitor size={14} aria-hidden />,
            },
          ]}
        />
        <MenuChoice
          label={t("shell.density.name")}
          value={density}
          onChange={(chosen) => prefer({ density: chosen })}
          choices={[
            { value: "comfortable", text: t("shell.density.comfortable") },
            { value: "compact", text: t("shell.density.compact") },
          ]}
        />
        <MenuChoice<Language>
          label={t("shell.language.name")}
          value={language}
          onChange={(chosen) => prefer({ language: chosen })}
          choices={(["en", "de"] as const).map((value) => ({ value, text: LANGUAGES[value] }))}
        />
        <MenuLine />
        <Suspense>
          <PauseItem />
        </Suspense>
        {(signIn.admin || !signIn.local) && <MenuLine />}
        {signIn.admin && (
          <MenuItem icon={<UserSearch size={14} aria-hidden />} onSelect={() => setChoosing(true)}>
            {t("shell.user.other")}
          </MenuItem>
        )}
        {!signIn.local && (
          <MenuItem icon={<LogOut size={14} aria-hidden />} onSelect={() => void leave()}>
            {t("shell.user.signOut")}
          </MenuItem>
        )}
      </Menu>
      <OtherUser open={choosing} onOpenChange={setChoosing} />
    </>
  );
}

function OtherUser({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const signIn = useSignIn();
  const { lookAt } = useSignInActions();
  const [user, setUser] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    lookAt(signIn, user.trim()).catch((error) =>
      showToast({ text: explanationOf(error), tone: "bad" }),
    );
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t("shell.user.other")}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field label={t("shell.signIn.user")} help={t("shell.user.otherHelp")}>
          <Input
            value={user}
            onChange={(event) => setUser(event.target.value)}
            autoComplete="off"
            required
          />
        </Field>
        <div className="flex justify-end">
          <Button look="primary" type="submit" disabled={!user.trim()}>
            {t("shell.user.show")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
