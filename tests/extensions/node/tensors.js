// Checks tensors by Node's assert; argument 2 is the program Values.
const assert = require('assert');
const lamella = require('lamella');

const m = lamella.load(process.argv[2]);

// `data` shows the memory, and a result that is the argument shows the same memory.
const x = lamella.tensor([[1, 2], [3, 4]]);
assert.strictEqual(x.data, x.data);
x.data[3] = 40;
assert.deepStrictEqual(x.tolist(), [[1, 2], [3, 40]]);
const same = m.forwardSync(x);
same.data[0] = 10;
assert.strictEqual(x.data[0], 10);

// Of a tensor that is not contiguous it is a copy.
const t = m.method('transposed').sync(x);
assert.deepStrictEqual([...t.data], [10, 3, 2, 40]);
t.data[0] = -1;
assert.strictEqual(x.data[0], 10);

// A typed array lives on without its tensor.
let big = lamella.ones([1000, 1000]);
const data = big.data;
big.dispose();
assert.throws(() => big.data, { name: 'Error', message: /disposed/ });
big.dispose();
big = null;
global.gc();
const others = Array.from({ length: 20 }, () => lamella.zeros([1000, 1000]));
assert.ok(data.every((v) => v === 1) && others.length === 20);

// The data of a call is copied: the program sees what the array was when the tensor was made.
const source = Float32Array.of(1, 2);
const copy = lamella.tensor(source);
source[0] = 99;
assert.deepStrictEqual(copy.tolist(), [1, 2]);

// Shapes and dtypes.
assert.deepStrictEqual(lamella.zeros([0, 3]).tolist(), []);
assert.deepStrictEqual(lamella.zeros([2, 0]).tolist(), [[], []]);
assert.strictEqual(lamella.zeros([2, 0]).data.length, 0);
assert.strictEqual(lamella.tensor(7).item(), 7);
assert.deepStrictEqual(lamella.tensor(7).shape, []);
assert.strictEqual(lamella.tensor(7n).dtype, 'int64');
assert.strictEqual(lamella.tensor([true, false]).dtype, 'bool');
assert.deepStrictEqual(lamella.tensor([true, false]).toArray(), [true, false]);
assert.deepStrictEqual(lamella.tensor([[1n], [2n]]).tolist(), [[1], [2]]);
assert.deepStrictEqual(lamella.tensor([2n ** 60n]).tolist(), [2n ** 60n]);
assert.strictEqual(lamella.ones([2], 'int32').dtype, 'int32');
assert.strictEqual(lamella.ones([2], { dtype: 'int8', requiresGrad: false }).dtype, 'int8');
assert.strictEqual(lamella.tensor([1, 2], 'int16').dtype, 'int16');
assert.deepStrictEqual(lamella.tensor(Float32Array.of(1, 2, 3, 4), [2, 2]).tolist(), [[1, 2], [3, 4]]);
assert.deepStrictEqual(lamella.tensor([Float64Array.of(1, 2), [3, 4]]).shape, [2, 2]);
assert.deepStrictEqual(lamella.tensor([1, 2], 'complex128').tolist(), [{ re: 1, im: 0 }, { re: 2, im: 0 }]);
assert.deepStrictEqual(lamella.tensor(Float32Array.of(1, 2), null, 'complex64').tolist(), [{ re: 1, im: 2 }]);
assert.strictEqual(String(lamella.tensor([[1n]])), 'Tensor[Type=CPULongType, Size=[1, 1]]');

// tensor(t.data, t.shape, t.dtype) copies a tensor of any dtype.
const floating = [-0.5, 0, 1, 2.5, 300];
for (const dtype of ['float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128']) {
  const a = lamella.tensor(floating, dtype);
  const b = lamella.tensor(a.data, a.shape, a.dtype);
  assert.strictEqual(b.dtype, dtype);
  assert.deepStrictEqual(Buffer.from(b.data.buffer), Buffer.from(a.data.buffer));
}
for (const dtype of ['bool', 'uint8', 'uint16', 'uint32', 'uint64', 'int8', 'int16', 'int32', 'int64']) {
  const a = lamella.tensor([0, 1, 1, 0], [2, 2], dtype);
  const b = lamella.tensor(a.data, a.shape, a.dtype);
  assert.strictEqual(b.dtype, dtype);
  assert.deepStrictEqual(b.tolist(), a.tolist());
  assert.deepStrictEqual(b.tolist(), dtype === 'bool' ? [[false, true], [true, false]] : [[0, 1], [1, 0]]);
}
console.log('ok');
