// Builds the addon by a C++ compiler: `node build.js`, which `npm install` runs. CXX and CXXFLAGS choose the compiler
// and further flags.
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const { home } = require('./home.js');

/** Returns the folder of node_api.h: of the package node-api-headers, or of this Node. */
function headers() {
  const tried = [];
  try {
    tried.push(require('node-api-headers').include_dir);
  } catch {
    // The package is optional.
  }
  const prefix = path.join(path.dirname(fs.realpathSync(process.execPath)), '..');
  tried.push(path.join(prefix, 'include', 'node'), '/usr/include/node', '/usr/include/nodejs/src');
  const found = tried.find((folder) => fs.existsSync(path.join(folder, 'node_api.h')));
  if (found === undefined) {
    throw new Error(
      `lamella: there is no node_api.h in ${tried.join(', ')}; npm install node-api-headers, and run 'node build.js'`,
    );
  }
  return found;
}

function build() {
  const folder = home();
  const source = path.join(__dirname, 'src');
  const out = path.join(__dirname, 'build');
  fs.mkdirSync(out, { recursive: true });
  // The addon finds the libraries where they are now, or in a folder `lamella` beside it.
  const runs = [folder, '$ORIGIN/../lamella'].map((place) => `-Wl,-rpath,${place}`);
  const command = [
    ...['-std=c++17', '-O2', '-fPIC', '-fvisibility=hidden', '-shared', '-pthread'],
    ...(process.env.CXXFLAGS || '').split(' ').filter((flag) => flag !== ''),
    ...[`-I${headers()}`, `-I${path.join(folder, 'include')}`],
    ...fs.readdirSync(source).filter((name) => name.endsWith('.cpp')).map((name) => path.join(source, name)),
    ...[`-L${folder}`, '-llamella_run', '-llamella', ...runs],
  ];
  // A library that is in use keeps its file: the new one replaces the name.
  const made = path.join(out, `lamella.${process.pid}.part`);
  execFileSync(process.env.CXX || 'g++', [...command, '-o', made], { stdio: 'inherit' });
  fs.renameSync(made, path.join(out, 'lamella.node'));
}

try {
  build();
} catch (error) {
  const missing = error.code === 'ENOENT' && error.path;
  console.error(missing ? `lamella: ${missing} is not installed: apt-get install g++` : error.message);
  process.exitCode = 1;
}
