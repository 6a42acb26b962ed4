/** The app of the npm package inngest 4. CHECKPOINTING: `default`, `off`, or the number of steps that it buffers. */
import { createServer } from 'node:http';
import { Inngest } from 'inngest';
import { serve } from 'inngest/node';
import { connectToSender, listen } from '../app.ts';
import { FUNCTION_NAMES, runSteps } from '../functions.ts';

const { CHECKPOINTING = 'default', SERVICE_BASE_URL, SERVICE_EVENT_KEY, SERVICE_SIGNING_KEY } = process.env;
const checkpointing = CHECKPOINTING !== 'off' && { bufferedSteps: Number(CHECKPOINTING) };
const client = new Inngest({
  id: 'peers',
  isDev: false,
  ...(SERVICE_BASE_URL && { baseUrl: SERVICE_BASE_URL }),
  ...(SERVICE_EVENT_KEY && { eventKey: SERVICE_EVENT_KEY }),
  ...(SERVICE_SIGNING_KEY && { signingKey: SERVICE_SIGNING_KEY }),
});
const ended = await connectToSender();
const functions = FUNCTION_NAMES.map((name) =>
  client.createFunction(
    { id: name, triggers: [{ event: `peers/${name}` }], ...(CHECKPOINTING !== 'default' && { checkpointing }) },
    async ({ event, step }) => {
      await runSteps(name, (id, work) => step.run(id, work));
      ended(event.data.n);
    },
  ),
);
listen(createServer(serve({ client, functions, servePath: '/api/peers' })));
