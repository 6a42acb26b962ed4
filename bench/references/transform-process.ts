/** Half of a reference (transform-server.ts): runs the transform on each message from its parent. */
import { transform } from './transform.ts';

process.on('message', ([id, json]: [number, string]) => process.send?.([id, transform(json)]));
process.once('disconnect', () => process.exit());
