/** The app of DBOS, which is a library: workflows run in this process, and a route starts each as an app of its users would. */
import { createServer } from 'node:http';
import { connectToSender, listen } from '../app.ts';
import { FUNCTION_NAMES, runSteps } from '../functions.ts';
import { requirePeer } from '../packages.ts';

type Workflow = (n: number) => Promise<void>;
interface Dbos {
  setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void;
  registerWorkflow(workflow: Workflow, options: { name: string }): Workflow;
  runStep<T>(work: () => Promise<T>, options: { name: string }): Promise<T>;
  startWorkflow(workflow: Workflow): (n: number) => Promise<object>;
  launch(): Promise<void>;
}

const { DBOS } = requirePeer<{ DBOS: Dbos }>('@dbos-inc/dbos-sdk');
const ended = await connectToSender();
const workflows = FUNCTION_NAMES.map((name): [string, Workflow] => {
  const workflow = async (n: number) => {
    await runSteps(name, (id, work) => DBOS.runStep(work, { name: id }));
    ended(n);
  };
  return [`/${name}`, DBOS.registerWorkflow(workflow, { name })];
});
const routes = new Map(workflows);
DBOS.setConfig({ name: 'peers', systemDatabaseUrl: process.env.DATABASE_URL ?? '', logLevel: 'error' });
await DBOS.launch();

listen(
  createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', async () => {
      const workflow = routes.get(request.url ?? '') as Workflow;
      await DBOS.startWorkflow(workflow)((JSON.parse(body) as { n: number }).n);
      response.end('{}');
    });
  }),
);
