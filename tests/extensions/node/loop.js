// Counts the turns of the event loop while a call runs: argument 3 is `later` or `now`, argument 4 the operators.
const lamella = require('lamella');

const m = lamella.load(process.argv[2]);
const n = Number(process.argv[4]);
let turns = 0;
let going = true;
function turn() {
  turns++;
  if (going) setImmediate(turn);
}

async function all() {
  const x = lamella.ones([1000]);
  turn();
  const started = turns;
  const y = process.argv[3] === 'later' ? await m.forward(x, n) : m.forwardSync(x, n);
  const during = turns - started;
  going = false;
  console.log(JSON.stringify({ during, right: y.tolist().every((v) => v === 1) }));
}
all();
