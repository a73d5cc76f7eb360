export const filing = {
  title: "Sort memories into areas",
  text: "Change or untick what does not fit. The rest is sorted at once, with one undo.",
  area: "Area of “{memory}”",
  save: "{count, plural, =0 {Sort} one {Sort # memory} other {Sort # memories}}",
  more: "{count, plural, one {# more can be sorted after these.} other {# more can be sorted after these.}}",
  off: "Some seem to be about areas that are off, so nothing is suggested for them: {areas}.",
  settings: "Areas in the settings",
} as const;
