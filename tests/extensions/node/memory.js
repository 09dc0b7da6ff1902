// Calls a program 10000 times on 10000 numbers, and prints how many bytes the process has grown by. Argument 3 is
// `later`, `now` or `keep`, which keeps every result.
const lamella = require('lamella');

const m = lamella.load(process.argv[2]);
const x = new Float32Array(10000).fill(1);
const kept = [];
const how = process.argv[3];

async function calls(n) {
  for (let i = 0; i < n; i++) {
    const t = lamella.tensor(x);
    const y = how === 'now' ? m.forwardSync(t) : await m.forward(t);
    if (y.data[9999] !== 2) throw new Error('wrong');
    if (how === 'keep') kept.push(y);
    if (how === 'now' && i % 100 === 0) await new Promise(setImmediate); // finalizers run when the loop turns
  }
}

async function all() {
  await calls(1000);
  global.gc();
  await new Promise(setImmediate);
  const before = process.memoryUsage().rss;
  await calls(10000);
  global.gc();
  await new Promise(setImmediate);
  console.log(process.memoryUsage().rss - before);
}
all();
