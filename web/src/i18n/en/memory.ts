export const memory = {
  title: "Memory",
  one: "Memory",
  count: "{count, plural, one {# memory} other {# memories}}",
  loading: "{count, plural, one {# memory so far} other {# memories so far}}",
  gone: "There is no such memory",
  goneText: "It was erased, or the address belongs to somebody else.",
  open: "Open",

  "act.confirm": "Confirm",
  "act.forget": "Forget",
  "act.delete": "Delete",
  "act.restore": "Restore",

  "status.active": "active",
  "status.upcoming": "upcoming",
  "status.proposed": "proposed",
  "status.candidate": "candidate",
  "status.superseded": "superseded",
  "status.expired": "expired",
  "status.forgotten": "forgotten",
  "status.trashed": "in the trash",

  "did.save": "Saved",
  "did.update": "Changed",
  "did.confirm": "Confirmed",
  "did.forget": "Forgotten",
  "did.delete": "In the trash for thirty days",
  "did.restore": "Restored",
  "did.erase": "Erased for good",

  "empty.title": "Waiting for your first memory",
  "empty.text":
    "Everything that is known about you is listed here, with where it came from. Save something, and it shows at once.",
} as const;
