// Programs of Lamella in Node.js. README.md shows a session; index.d.ts describes each function.
'use strict';

const fs = require('fs');
const path = require('path');

const ADDON = path.join(__dirname, 'build', 'lamella.node');
if (!fs.existsSync(ADDON)) {
  throw new Error(`lamella: ${ADDON} is not built; run 'node build.js' in ${__dirname}, as npm install does`);
}
const addon = require(ADDON);
const { addMethods, make } = require('./tensors.js');

const { ScriptModule, Tensor, fromTypedArray, libraryVersion } = addon;

/** Returns the dtype that options choose; `false`, as torchjs has it for requires_grad, is one of them. */
function dtypeOf(what, options) {
  const dtype = options !== null && typeof options === 'object' ? options.dtype : options;
  const requiresGrad = options !== null && typeof options === 'object' ? options.requiresGrad : options;
  if (requiresGrad === true) {
    throw new TypeError(`${what}: gradients are not recorded here; train the program in Python or C++`);
  }
  if (dtype === false || dtype === undefined || dtype === null) return undefined;
  if (typeof dtype !== 'string') {
    throw new TypeError(`${what}: argument 'dtype' must be a string, got a ${typeof dtype}`);
  }
  return dtype;
}

function tensor(data, shape, dtype) {
  if (typeof shape === 'string' || (shape !== null && typeof shape === 'object' && !Array.isArray(shape))) {
    return make(fromTypedArray, data, undefined, dtypeOf('tensor', shape));
  }
  return make(fromTypedArray, data, shape, dtypeOf('tensor', dtype));
}

function ones(shape, options) {
  return addon.ones(shape, dtypeOf('ones', options));
}

function zeros(shape, options) {
  return addon.zeros(shape, dtypeOf('zeros', options));
}

function load(file) {
  return new ScriptModule(file);
}

/** Returns a function that calls a method by a promise; its property `sync` calls it at once. */
ScriptModule.prototype.method = function method(name) {
  if (!this.methods.includes(name)) {
    throw new TypeError(`method: the program has no method '${name}'; it has ${this.methods.join(', ')}`);
  }
  const call = (...args) => this.callMethod(name, ...args);
  call.sync = (...args) => this.callMethodSync(name, ...args);
  return call;
};

addMethods(Tensor);

module.exports = { ScriptModule, Tensor, load, tensor, ones, zeros, libraryVersion };
