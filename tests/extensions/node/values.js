// Calls methods as argument 2 lists them, each as a name and arguments in JavaScript; prints the results as JSON.
const lamella = require('lamella');

const m = lamella.load(process.argv[2]);

function plain(x) {
  if (x instanceof lamella.Tensor) return { dtype: x.dtype, list: plain(x.tolist()) };
  if (x instanceof Map) return { map: [...x].map(plain) };
  if (typeof x === 'bigint') return { bigint: String(x) };
  if (Array.isArray(x)) return x.map(plain);
  if (x !== null && typeof x === 'object') {
    return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, plain(v)]));
  }
  return x;
}

async function all() {
  const results = [];
  for (const [name, args] of JSON.parse(process.argv[3])) {
    // eslint-disable-next-line no-new-func
    const values = new Function('lamella', `return [${args}]`)(lamella);
    const [later, now] = [await m.callMethod(name, ...values), m.method(name).sync(...values)];
    if (JSON.stringify(plain(later)) !== JSON.stringify(plain(now))) throw new Error(`${name}: the two calls differ`);
    results.push(plain(later));
  }
  console.log(JSON.stringify(results));
}
all();
