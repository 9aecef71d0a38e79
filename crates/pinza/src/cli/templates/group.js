// Each tool of the manifest names its function. What one returns is the result.
function greet({ name }) {
  return `Hello, ${name}!`;
}

function count({ text }) {
  return { words: words(text).length };
}

// Shared by the tools of this script.
function words(text) {
  return text.split(/\s+/).filter((word) => word !== "");
}
