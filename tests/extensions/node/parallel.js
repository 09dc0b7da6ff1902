// Starts a hundred calls at once, and drops the program and its arguments while they run; prints the results.
const lamella = require('lamella');

async function all() {
  let m = lamella.load(process.argv[2]);
  const calls = [];
  for (let i = 0; i < 100; i++) calls.push(m.forward(lamella.tensor(Float32Array.of(i, i + 0.5))));
  m = null;
  global.gc();
  const results = await Promise.all(calls);
  global.gc();
  console.log(JSON.stringify(results.map((y) => y.tolist())));
}
all();
