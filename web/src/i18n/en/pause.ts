export const pause = {
  pause: "Pause memory",
  resume: "Resume",
  resumeMemory: "Resume memory",
  help: "While paused, nothing is learned or saved, chats are not kept, and assistants do not see your memories. You can still read, edit and delete.",
  title: "Memory is paused.",
  text: "Nothing is learned or saved, and assistants do not see your memories.",
} as const;
