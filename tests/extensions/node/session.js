// The session of the talk: argument 1 is the program, argument 2 the file that gets the bytes of the result.
const torchjs = require('lamella');
const fs = require('fs');

async function session() {
  const script_module = new torchjs.ScriptModule(process.argv[2]);
  const data = torchjs.ones([1, 3, 224, 224], false);
  console.log(data);
  const output = await script_module.forward(data);
  console.log(output);
  fs.writeFileSync(process.argv[3], output.data);
}
session();
