/** The app of Tidegate with its own client. */
import { createServer } from 'node:http';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { connectToSender, listen } from '../app.ts';
import { FUNCTION_NAMES, runSteps } from '../functions.ts';

const client = new Tidegate<Record<string, { data: { n: number } }>>({ id: 'peers' });
const ended = await connectToSender();
const functions = FUNCTION_NAMES.map((name) =>
  client.createFunction({ id: name, triggers: { event: `peers/${name}` } }, async ({ event, step }) => {
    await runSteps(name, (id, work) => step.run(id, work));
    ended(event.data.n);
  }),
);
listen(createServer(serve({ client, functions, path: '/api/peers' })));
