interface Params {
  name: string;
  loud: boolean;
}

// What execute returns is the result: text as it is, anything else as JSON.
// fetch, fs, console, tools.call and more are there; pinza.d.ts lists them all.
export async function execute({ name, loud }: Params): Promise<string> {
  const greeting = `Hello, ${name}!`;
  return loud ? greeting.toUpperCase() : greeting;
}
