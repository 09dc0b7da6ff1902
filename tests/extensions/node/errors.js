// Evaluates expressions, argument 3 as JSON, with `m` the program of argument 2; prints each error as JSON.
const lamella = require('lamella');

const m = lamella.load(process.argv[2]);

async function all() {
  const found = [];
  for (const expression of JSON.parse(process.argv[3])) {
    // eslint-disable-next-line no-new-func
    const run = new Function('lamella', 'm', `return ${expression}`);
    let at = 'thrown';
    try {
      const value = run(lamella, m);
      at = 'rejected';
      found.push([`no error: ${await value}`]);
    } catch (e) {
      found.push([e.constructor.name, e.message, at, e.code]);
    }
  }
  console.log(JSON.stringify(found));
}
all();
