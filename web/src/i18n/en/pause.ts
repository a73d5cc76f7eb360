export const pause = {
  pause: "Pause memory",
  resume: "Resume",
  resumeMemory: "Resume memory",
  help: "Nothing is learned or saved, chats are not kept, and assistants see no memories. You can still edit.",
  title: "Memory is paused.",
  text: "Nothing is learned or saved, and assistants do not see your memories.",
} as const;
