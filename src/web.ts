/** Runs web as this process. */
import { startWeb } from './composition/start-web.ts';
import { runAsProcess } from './process.ts';

await runAsProcess('web', startWeb);
