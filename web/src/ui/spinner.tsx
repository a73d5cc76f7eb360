import { LoaderCircle } from "lucide-react";
import { t } from "../i18n/index.ts";

/** A loading indicator. With `page` it fills the place of a page. */
export function Spinner({ page }: { page?: boolean }) {
  const icon = <LoaderCircle size={page ? 20 : 14} aria-hidden className="animate-spin" />;
  if (!page) return icon;
  return (
    <output className="flex min-h-64 items-center justify-center text-muted">
      {icon}
      <span className="sr-only">{t("shell.loading")}</span>
    </output>
  );
}
