// Runs @met4citizen/headaudio (npm, MIT) on clips: node headaudio.mjs PACKAGE_FOLDER < clips > events.
// In: for each clip a little-endian uint32 count and that many float32 samples at 48 kHz. Out: a JSON line per
// clip, [[seconds, viseme], ...], viseme -1 when its gate closes.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const load = (name) => import(pathToFileURL(`${folder}/modules/${name}`).href);
const { Processor } = await load("processor.mjs");
const { Training } = await load("training.mjs");
const bytes = readFileSync(`${folder}/dist/model-en-mixed.bin`);
globalThis.fetch = async () => ({ ok: true, arrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) });
const { model } = await new Training().loadModel("");

const input = readFileSync(0);
for (let at = 0; at < input.length; ) {
  const count = input.readUInt32LE(at);
  const samples = new Float32Array(input.buffer.slice(input.byteOffset + at + 4, input.byteOffset + at + 4 + 4 * count));
  at += 4 + 4 * count;
  const events = [];
  const port = {
    postMessage(m) {
      if (m.event === "viseme" && m.viseme !== null) events.push([m.t, m.viseme]);
      if (m.event === "ended") events.push([m.t, -1]);
    },
  };
  const processor = new Processor({ sampleRate: 48000 }, { port });
  processor._onmessage({ data: { event: "model", model } });
  for (let i = 0; i < samples.length; i += 128) processor.process(samples.subarray(i, i + 128));
  writeSync(1, JSON.stringify(events) + "\n");
}
