// Calls one file's program from four threads of JavaScript, each with an addon of its own.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const lamella = require('lamella');

async function total(file, start) {
  const m = lamella.load(file);
  const results = await Promise.all([0, 1, 2, 3].map((i) => m.forward(lamella.tensor([start + i, 0]))));
  return results.map((y) => y.data[0]);
}

if (isMainThread) {
  const workers = [10, 20, 30, 40].map(
    (start) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: { file: process.argv[2], start } });
        worker.on('message', resolve);
        worker.on('error', reject);
      }),
  );
  Promise.all([total(process.argv[2], 0), ...workers]).then((all) => console.log(JSON.stringify(all)));
} else {
  total(workerData.file, workerData.start).then((found) => parentPort.postMessage(found));
}
