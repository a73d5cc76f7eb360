/** Gives a file to the browser to put where its person wants it. */
export function saveFile(name: string, content: string, type = "text/markdown"): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
