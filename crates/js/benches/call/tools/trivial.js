function execute({ a, b }) {
  return a + b;
}
