/** The transform of the benchmarks in an isolate. */
import ivm from 'isolated-vm';
import { TRANSFORM } from '../payloads.ts';

const MEMORY_MB = 64;

const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
const context = isolate.createContextSync();
const source = `${TRANSFORM}\nreturn (json) => { const [evt, headers] = JSON.parse(json); return JSON.stringify(transform(evt, headers)); };`;
const call: ivm.Reference<(json: string) => string> = context.evalClosureSync(source, [], {
  result: { reference: true },
});

/** @param json the body and the headers of a request
 *  @returns the event as JSON */
export function transform(json: string): string {
  return call.applySync(undefined, [json]);
}
