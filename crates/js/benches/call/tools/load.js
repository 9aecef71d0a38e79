function hang() {
  while (true) {}
}

function bomb() {
  const kept = [];
  while (true) kept.push(new Array(1000).fill(kept.length));
}

function swell() {
  const bytes = new Uint8Array(64 << 20).fill(1);
  while (bytes[0] === 1) {}
}

function burn({ ms }) {
  const end = Date.now() + ms;
  while (Date.now() < end) {}
  return "burnt";
}

async function readPage({ url }) {
  const response = await fetch(url);
  return await response.text();
}
