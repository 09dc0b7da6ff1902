// Types of the package lamella: programs of Lamella in Node.js.

/** The names of dtypes; plugins may bring others. */
export type Dtype =
  | 'bool'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'float16'
  | 'bfloat16'
  | 'float32'
  | 'float64'
  | 'complex64'
  | 'complex128'
  | (string & {});

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

export interface Complex {
  re: number;
  im: number;
}

export type Nested<T> = T | Nested<T>[];

/** What a program takes. An array stands for a list and for a tuple, an object for a dictionary with keys of text. */
export type Argument =
  | Tensor
  | TypedArray
  | number
  | bigint
  | boolean
  | string
  | null
  | undefined
  | Argument[]
  | Map<string | number | bigint | boolean, Argument>
  | { [key: string]: Argument };

/**
 * What a program returns. A dictionary whose keys are not all text is a Map, and an object of a class a plain object.
 */
export type Result =
  | Tensor
  | Complex
  | number
  | bigint
  | boolean
  | string
  | null
  | Result[]
  | Map<Result, Result>
  | { [key: string]: Result };

/** An array of numbers with a shape and a dtype. */
export class Tensor {
  private constructor();
  readonly shape: number[];
  readonly dtype: Dtype;
  /** Such as 'cpu'. */
  readonly device: string;
  /** The number of elements. */
  readonly numel: number;
  /**
   * The elements, row by row. It shows the memory of the tensor, so that a write to it writes the tensor, and it lives
   * on without the tensor; of a tensor that is not contiguous, or on another device, it is a copy. `bool` is a
   * Uint8Array of 0 and 1, `float16` and `bfloat16` are the bits in a Uint16Array, complex numbers are pairs in a
   * Float32Array or a Float64Array.
   */
  readonly data: TypedArray;
  /** Returns the elements as nested arrays; a tensor without dimensions gives one number. */
  tolist(): Nested<number | bigint | boolean | Complex>;
  /** Another name of tolist(). */
  toArray(): Nested<number | bigint | boolean | Complex>;
  /** Returns the element of a tensor that has one. Throws TypeError for any other tensor. */
  item(): number | bigint | boolean | Complex;
  /** Returns the tensor in another dtype. */
  to(dtype: Dtype): Tensor;
  /** Releases the memory now, and not when the object is collected. `data` that was read before stays valid. */
  dispose(): void;
  toString(): string;
}

/** A method of a program. */
export interface Method {
  (...args: Argument[]): Promise<any>;
  /** Calls it at once, on this thread. */
  sync(...args: Argument[]): any;
}

/** A program from a file that `lamella.jit.save` wrote in Python. Its calls record no gradients. */
export class ScriptModule {
  /**
   * Reads a file, or the bytes of one. Nothing of it is run. Throws TypeError for any other argument, and Error for a
   * file that is no such program, is damaged, or needs operators that are not here.
   */
  constructor(path: string | Uint8Array);
  /** The names of the methods that can be called. */
  readonly methods: string[];
  /**
   * Calls the method `forward` on a thread of Node's pool; several calls may run at once. The promise has the result
   * (Result), or is rejected: by TypeError for a wrong argument, else by Error. Do not write to `data` of an argument
   * while the call runs.
   */
  forward(...args: Argument[]): Promise<any>;
  /** Calls `forward` on this thread, which waits for it. */
  forwardSync(...args: Argument[]): any;
  /** Returns another method as a function. Throws TypeError if there is none of this name. */
  method(name: string): Method;
  callMethod(name: string, ...args: Argument[]): Promise<any>;
  callMethodSync(name: string, ...args: Argument[]): any;
  /** Turns training on or off, and returns the program. No other call may run meanwhile. */
  train(mode?: boolean): this;
  /** Is train(false). */
  eval(): this;
  /** Returns a further file that was saved with the program, as a Buffer; null if there is none of this name. */
  extraFile(name: string): Uint8Array | null;
}

/** Returns `new ScriptModule(path)`. */
export function load(path: string | Uint8Array): ScriptModule;

/** `false` stands for "no gradients", as in torchjs. */
export type Options = Dtype | false | { dtype?: Dtype; requiresGrad?: false };

/**
 * Makes a tensor of a copy of the data. A typed array has a dtype of its own; numbers become float32, BigInts int64,
 * booleans bool. With a dtype, the elements are converted; but a Uint16Array is the bits of float16 and bfloat16, and a
 * Float32Array or a Float64Array the pairs of complex64 or complex128, so that `tensor(t.data, t.shape, t.dtype)`
 * copies any tensor. Throws TypeError for arrays that are ragged, and for a shape that does not fit.
 */
export function tensor(
  data: TypedArray | Nested<number> | Nested<bigint> | Nested<boolean>,
  shape?: number[] | null,
  dtype?: Options,
): Tensor;
export function tensor(
  data: TypedArray | Nested<number> | Nested<bigint> | Nested<boolean>,
  options: Options,
): Tensor;

/** Makes a tensor of ones, float32 unless the options have a dtype. */
export function ones(shape: number[], options?: Options): Tensor;

/** Makes a tensor of zeros, float32 unless the options have a dtype. */
export function zeros(shape: number[], options?: Options): Tensor;

/** The version of the library that runs the programs. */
export const libraryVersion: string;
