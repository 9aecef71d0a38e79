// Runs a file of cases and answers with what differs, one text each; first how many there were.
(async (makeRunner, cases) => {
  const faults = [];
  let count = 0;
  for (const { name, library, calls = [], describe = [], after = () => {} } of cases) {
    const invoke = makeRunner(library());
    const steps = [...calls.map((step) => [invoke, ...step]), ...describe.map((step) => [invoke.describe, ...step])];
    for (const [run, plan, expected] of steps) {
      count += 1;
      const outcome = await run(plan).then(JSON.parse, (error) => ({ rejected: `${error}` }));
      for (const error of [outcome.error, outcome.init]) delete error?.stack;
      const isPattern = expected instanceof RegExp;
      const [got, wanted] = [JSON.stringify(outcome), isPattern ? expected.source : JSON.stringify(expected)];
      if (isPattern ? !expected.test(got) : got !== wanted) faults.push(`${name}: ${JSON.stringify(plan)}\n  got    ${got.slice(0, 1000)}\n  wanted ${wanted.slice(0, 1000)}`);
    }
    after();
  }
  return JSON.stringify({ count, faults });
})
