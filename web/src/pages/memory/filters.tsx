/** Search box and filter chips; each filter is also in the address. */

import { ChevronDown, Search, Sparkles, X } from "lucide-react";
import type { MemoryView } from "lukasa-client";
import { type Ref, useContext, useMemo } from "react";
import { count } from "../../data/select.ts";
import { DomainNames, labelFor } from "../../features/memory/labels.ts";
import { nameText, t } from "../../i18n/index.ts";
import { Chip } from "../../ui/chip.tsx";
import { classes } from "../../ui/classes.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Menu, MenuChoice } from "../../ui/menu.tsx";
import type { MemoryParams } from "./params.ts";

export type Change = (search: Partial<MemoryParams>) => void;

export function SearchBox({
  box,
  text,
  onText,
  meaning,
  onMeaning,
  onLeave,
}: {
  box: Ref<HTMLInputElement>;
  text: string;
  onText: (text: string) => void;
  meaning: boolean;
  onMeaning: (meaning: boolean) => void;
  /** Down or Escape: moves the focus to the rows. */
  onLeave: () => void;
}) {
  return (
    <search className="relative flex min-w-48 flex-1 items-center sm:max-w-md">
      <Search size={14} aria-hidden className="absolute start-2.5 text-muted" />
      <input
        ref={box}
        type="text"
        dir="auto"
        enterKeyHint="search"
        aria-label={t("memory.filter")}
        placeholder={t(meaning ? "memory.askPlaceholder" : "memory.filterPlaceholder")}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter" && text.trim()) onMeaning(true);
          else if (event.key === "ArrowDown") onLeave();
          else if (event.key === "Escape" && text) onText("");
          else if (event.key === "Escape") onLeave();
          else return;
          event.preventDefault();
        }}
        className={classes(
          "h-control w-full rounded-control border border-strong-line/60 bg-surface ps-8 placeholder:text-faint focus-visible:border-accent focus-visible:outline-accent focus-visible:outline-offset-0",
          text ? "pe-24 pointer-coarse:pe-36" : "pe-9",
        )}
      />
      <span className="absolute end-1 flex items-center gap-1">
        {text ? (
          <>
            <button
              type="button"
              aria-pressed={meaning}
              title={t("memory.byMeaningHelp")}
              onClick={() => onMeaning(!meaning)}
              className={classes(
                "inline-flex h-6 items-center pointer-coarse:h-11 pointer-coarse:px-2 gap-1 rounded px-1.5 text-fine whitespace-nowrap",
                meaning ? "bg-accent-soft text-accent-text" : "text-muted hover:bg-hover",
              )}
            >
              <Sparkles size={12} aria-hidden />
              {t("memory.byMeaning")}
            </button>
            <IconButton small plain label={t("memory.clear")} onClick={() => onText("")}>
              <X size={14} aria-hidden />
            </IconButton>
          </>
        ) : (
          <span aria-hidden className="pe-1">
            <Kbd keys="/" />
          </span>
        )}
      </span>
    </search>
  );
}

const STATUSES = ["upcoming", "expired", "candidate"] as const;
const CERTAINTIES = ["confirmed", "strong", "tentative", "candidate", "unused"] as const;
const SOURCES = ["said", "assistant", "inferred", "imported"] as const;

export function FilterChips({
  all,
  search,
  change,
  isCurrent,
}: {
  all: readonly MemoryView[];
  search: MemoryParams;
  change: Change;
  /** Whether the tab allows a status filter. */
  isCurrent: boolean;
}) {
  const names = useContext(DomainNames);
  const domains = useMemo(() => {
    const counts = count(all, (memory) => memory.domain ?? "none");
    return [...counts.keys()].sort((a, b) =>
      a === "none" ? 1 : b === "none" ? -1 : a.localeCompare(b),
    );
  }, [all]);
  const projects = useMemo(() => {
    const found = new Set<string>();
    for (const { project } of all) if (project) found.add(project);
    return [...found].sort((a, b) => a.localeCompare(b));
  }, [all]);
  const domainName = (name: string) =>
    name === "none" ? t("memory.noDomain") : (names.get(name) ?? name);
  return (
    <>
      <FilterMenu
        name={t("memory.field.domain")}
        value={search.domain}
        choices={domains.map((name) => ({ value: name, text: domainName(name) }))}
        onChange={(domain) => change({ domain })}
      />
      {(projects.length > 0 || search.project) && (
        <FilterMenu
          name={t("memory.field.project")}
          value={search.project}
          choices={[
            ...projects.map((name) => ({ value: name, text: name })),
            { value: "none", text: t("memory.noProject") },
          ]}
          onChange={(project) => change({ project })}
        />
      )}
      <FilterMenu
        name={t("memory.field.tier")}
        value={search.tier}
        choices={CERTAINTIES.map((value) => ({ value, text: t(`shell.tier.${value}`) }))}
        onChange={(tier) => change({ tier })}
      />
      <FilterMenu
        name={t("memory.field.source")}
        value={search.from}
        choices={SOURCES.map((from) => ({ value: from, text: t(`shell.origin.${from}`) }))}
        onChange={(from) => change({ from })}
      />
      {isCurrent && (
        <FilterMenu
          name={t("memory.field.status")}
          value={search.status}
          any={t("memory.status.active")}
          choices={STATUSES.map((status) => ({ value: status, text: labelFor("status", status) }))}
          onChange={(status) => change({ status })}
        />
      )}
      {search.category && (
        <Chip
          onRemove={() => change({ category: undefined })}
          removeLabel={t("memory.removeFilter")}
        >
          {categoryName(search.category)}
        </Chip>
      )}
      {search.tag && (
        <Chip onRemove={() => change({ tag: undefined })} removeLabel={t("memory.removeFilter")}>
          <bdi>#{search.tag}</bdi>
        </Chip>
      )}
    </>
  );
}

export function categoryName(name: string): string {
  return nameText(`memory.category.${name}`, name);
}

/** One filter: a chip with the current choice, and a menu of choices. */
export function FilterMenu<T extends string>({
  name,
  value,
  any,
  choices,
  onChange,
}: {
  name: string;
  value: T | undefined;
  /** The label when nothing is chosen. */
  any?: string;
  choices: readonly { value: T; text: string }[];
  onChange: (value: T | undefined) => void;
}) {
  const chosen = choices.find((one) => one.value === value)?.text ?? value ?? any;
  const trigger = (
    <button
      type="button"
      className={classes(
        "inline-flex h-small max-w-52 items-center gap-1 rounded-full border px-2.5 text-meta whitespace-nowrap",
        value
          ? "border-transparent bg-accent-soft text-accent-text"
          : "bg-surface text-muted hover:text-ink",
      )}
    >
      <span className="truncate">
        {name}
        {chosen && (
          <>
            {": "}
            <bdi>{chosen}</bdi>
          </>
        )}
      </span>
      <ChevronDown size={12} aria-hidden className="shrink-0" />
    </button>
  );
  return (
    <Menu trigger={trigger}>
      <div className="max-h-80 overflow-y-auto">
        <MenuChoice
          label={name}
          value={value ?? ("" as T)}
          choices={[{ value: "" as T, text: any ?? t("memory.any") }, ...choices]}
          onChange={(picked) => onChange(picked || undefined)}
        />
      </div>
    </Menu>
  );
}
