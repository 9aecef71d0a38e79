// Each tool of the manifest names its function. What one returns is the result.
export function greet({ name }: { name: string }): string {
  return `Hello, ${name}!`;
}

export function count({ text }: { text: string }): { words: number } {
  return { words: words(text).length };
}

// Shared by the tools of this script.
function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
