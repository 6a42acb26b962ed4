/** Started and killed by processes.test.ts: a service with a transform that loops for longer than the test lasts. */
import { createLog } from '../../src/log.ts';
import { createTransforms } from '../../src/transforms/transforms.ts';

const request = { body: {}, headers: {}, query: {}, raw: '' };
const transforms = createTransforms({ timeoutMs: 60_000, threads: 2, log: createLog('warn', 'test') });
await transforms.run({ id: 'fine', version: '1', code: 'const transform = () => null' }, request);
void transforms.run({ id: 'loop', version: '1', code: 'const transform = () => { while (true); }' }, request);
setImmediate(() => console.log('looping'));
