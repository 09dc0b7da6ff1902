// Finds the folder of liblamella_run.so and of the headers.
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const LIBRARY = 'liblamella_run.so';
const PROGRAM = 'import lamella.utils.cpp_extension as e; print(*e.library_paths(), sep="\\n")';

/** Returns the folders of an installed Python package; none if there is no Python or no such package. */
function ofPython() {
  try {
    const out = execFileSync(process.env.PYTHON || 'python3', ['-c', PROGRAM], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return out.split('\n').filter((line) => line !== '');
  } catch {
    return [];
  }
}

/**
 * Returns the folder: LAMELLA_HOME if it is set, else the folder `lamella` beside this file, else that of the Python
 * package, which PYTHON or python3 imports.
 */
function home() {
  const given = process.env.LAMELLA_HOME;
  const tried = given ? [path.resolve(given)] : [path.join(__dirname, 'lamella'), ...ofPython()];
  const found = tried.find((folder) => fs.existsSync(path.join(folder, LIBRARY)));
  if (found === undefined) {
    throw new Error(
      `lamella: there is no ${LIBRARY} in ${tried.join(', ')}; install the Python package lamella, or set ` +
        'LAMELLA_HOME to the folder that has it',
    );
  }
  return found;
}

module.exports = { home };
