// Tensors from arrays of JavaScript, and arrays from tensors.
'use strict';

const KINDS = {
  number: { dtype: 'float32', array: (all) => Float64Array.from(all) },
  bigint: { dtype: 'int64', array: (all) => BigInt64Array.from(all) },
  boolean: { dtype: 'bool', array: (all) => Uint8Array.from(all) },
};
const DEEPEST = 64;
const LIMIT = 2n ** 63n;

// The names that torch has for the types of tensors in host memory.
const TYPES = {
  bool: 'Bool',
  uint8: 'Byte',
  uint16: 'UInt16',
  uint32: 'UInt32',
  uint64: 'UInt64',
  int8: 'Char',
  int16: 'Short',
  int32: 'Int',
  int64: 'Long',
  float16: 'Half',
  bfloat16: 'BFloat16',
  float32: 'Float',
  float64: 'Double',
  complex64: 'ComplexFloat',
  complex128: 'ComplexDouble',
};

function isTypedArray(x) {
  return ArrayBuffer.isView(x) && !(x instanceof DataView);
}

function isRow(x) {
  return Array.isArray(x) || isTypedArray(x);
}

function described(x) {
  if (x === null) return 'null';
  if (typeof x !== 'object') return x === undefined ? 'undefined' : `a ${typeof x}`;
  return `an object of class ${x.constructor ? x.constructor.name : 'Object'}`;
}

/** Returns the sizes of nested arrays, by the first element of each. */
function shapeOf(data) {
  const shape = [];
  for (let row = data; isRow(row); row = row[0]) {
    if (shape.length === DEEPEST) throw new TypeError(`tensor: argument 'data' has more than ${DEEPEST} dimensions`);
    shape.push(row.length);
    if (row.length === 0) break;
  }
  return shape;
}

/** Appends the numbers of nested arrays to `all`. Each row must have the size that `shape` says; `at` is its place. */
function flatten(data, shape, at, all) {
  const place = () => `data${at.map((i) => `[${i}]`).join('')}`;
  if (at.length === shape.length) {
    const type = typeof data;
    if (!(type in KINDS)) {
      const got = isRow(data) ? 'an array, and other elements are none' : described(data);
      throw new TypeError(`tensor: argument 'data' must have numbers, BigInts or booleans, got ${got}, at ${place()}`);
    }
    if (all.length > 0 && typeof all[0] !== type) {
      throw new TypeError(`tensor: argument 'data' has a ${typeof all[0]} and a ${type}, at ${place()}; convert one`);
    }
    if (type === 'bigint' && (data >= LIMIT || data < -LIMIT)) {
      throw new RangeError(
        `tensor: argument 'data' has a BigInt that int64 does not hold, at ${place()}; pass a BigUint64Array`,
      );
    }
    all.push(data);
    return;
  }
  if (!isRow(data)) {
    throw new TypeError(`tensor: argument 'data' is ragged: ${described(data)} at ${place()}, and others are arrays`);
  }
  if (data.length !== shape[at.length]) {
    throw new TypeError(
      `tensor: argument 'data' is ragged: ${data.length} elements at ${place()}, and others have ${shape[at.length]}`,
    );
  }
  for (let i = 0; i < data.length; i++) {
    at.push(i);
    flatten(data[i], shape, at, all);
    at.pop();
  }
}

/** Makes a tensor of a typed array, of nested arrays, or of one number. */
function make(fromTypedArray, data, shape, dtype) {
  if (isTypedArray(data)) return fromTypedArray(data, shape, dtype);
  if (!isRow(data) && !(typeof data in KINDS)) {
    const got = described(data);
    throw new TypeError(
      `tensor: argument 'data' must be a typed array, an array, a number, a BigInt or a boolean, got ${got}`,
    );
  }
  const all = [];
  const own = shapeOf(data);
  flatten(data, own, [], all);
  const kind = KINDS[all.length > 0 ? typeof all[0] : 'number'];
  const made = fromTypedArray(kind.array(all), shape === undefined || shape === null ? own : shape);
  const wanted = dtype || kind.dtype;
  if (made.dtype === wanted) return made;
  const converted = made.to(wanted);
  made.dispose();
  return converted;
}

/** Returns the elements of a tensor, row by row, as numbers, booleans or objects of two parts. */
function elements(t) {
  switch (t.dtype) {
    case 'bool':
      return Array.from(t.data, (x) => x !== 0);
    case 'int64':
    case 'uint64':
      return Array.from(t.data, (x) => (Number.isSafeInteger(Number(x)) ? Number(x) : x));
    case 'complex64':
    case 'complex128':
      return Array.from({ length: t.numel }, (_, i) => ({ re: t.data[2 * i], im: t.data[2 * i + 1] }));
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'int8':
    case 'int16':
    case 'int32':
    case 'float32':
    case 'float64':
      return Array.from(t.data);
    default: {
      const wide = t.to('float32');
      const all = Array.from(wide.data);
      wide.dispose();
      return all;
    }
  }
}

function nested(all, shape, depth, first) {
  if (depth === shape.length) return all[first];
  const each = shape.slice(depth + 1).reduce((a, b) => a * b, 1);
  return Array.from({ length: shape[depth] }, (_, i) => nested(all, shape, depth + 1, first + i * each));
}

function addMethods(Tensor) {
  Object.assign(Tensor.prototype, {
    tolist() {
      return nested(elements(this), this.shape, 0, 0);
    },
    toArray() {
      return this.tolist();
    },
    item() {
      if (this.numel !== 1) throw new TypeError(`item: the tensor has ${this.numel} elements, and item() needs one`);
      return elements(this)[0];
    },
    toString() {
      const device = this.device === 'cpu' ? 'CPU' : this.device.replace(/:.*/, '').toUpperCase();
      return `Tensor[Type=${device}${TYPES[this.dtype] || this.dtype}Type, Size=[${this.shape.join(', ')}]]`;
    },
    [Symbol.for('nodejs.util.inspect.custom')]() {
      return this.toString();
    },
  });
  if (Symbol.dispose) Tensor.prototype[Symbol.dispose] = Tensor.prototype.dispose;
}

module.exports = { addMethods, make };
