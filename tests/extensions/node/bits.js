// Prints, for each dtype of argument 2 as JSON, the bytes of a tensor of the numbers of argument 3.
const lamella = require('lamella');

const numbers = JSON.parse(process.argv[3]);
const found = {};
for (const dtype of JSON.parse(process.argv[2])) {
  const { data } = lamella.tensor(numbers, dtype);
  found[dtype] = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex');
}
console.log(JSON.stringify(found));
