/** Runs a worker as this process. */
import { startWorker } from './composition/start-worker.ts';
import { runAsProcess } from './process.ts';

await runAsProcess('worker', startWorker);
