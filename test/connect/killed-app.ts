/** An app that connects, and dies in the second step of its call. */
import { Tidegate } from 'tidegate';
import { connect } from 'tidegate/connect';

const client = new Tidegate({ id: 'killed' });
const fn = client.createFunction({ id: 'fn', retries: 1, triggers: { event: 'killed/go' } }, async ({ step }) => {
  await step.run('first', () => 'the first');
  await step.run('second', () => process.kill(process.pid, 'SIGKILL'));
});
await connect({ client, functions: [fn] });
console.log('connected');
