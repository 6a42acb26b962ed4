import { expect } from 'chai';
import { type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { SCENARIOS, type Scenario, type Tools } from './scenarios.ts';
import { type App, type Loose, SDK_ADAPTERS, type SdkAdapter, startApp } from './sdk-adapters.ts';

for (const sdk of SDK_ADAPTERS) {
  describe(`steps, with ${sdk.name}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    });
    after(() => service.stop());

    for (const [number, scenario] of SCENARIOS.entries()) {
      it(scenario.title, async () => {
        const result = await runScenario(scenario, `s${number}`, sdk, service);
        try {
          await check(scenario, result, service);
        } finally {
          await result.app.close();
        }
      });
    }
  });
}

interface ScenarioResult {
  app: App;
  runId: string;
  effects: string[];
}

/** Registers the functions, starts the scenario, and runs what happens meanwhile. */
async function runScenario(scenario: Scenario, id: string, sdk: SdkAdapter, service: Service): Promise<ScenarioResult> {
  const effects: string[] = [];
  const client = sdk.client(service, id);
  const named = (name: string) => `${id}/${name}`;
  const send = async (name: string, data: object = {}) => {
    const { status } = await service.post('/e/key', { name: named(name), data });
    expect(status).to.equal(200);
  };
  const functions = new Map<string, Loose>();
  const tools = (args: Loose): Tools => ({
    ...args,
    sdk,
    named,
    send,
    log: (effect) => void effects.push(effect),
    note: (effect, value) => {
      effects.push(effect);
      return value;
    },
    fn: (other) => functions.get(other),
  });
  const define = (fnId: string, { config = {}, handler }: Pick<Scenario, 'config' | 'handler'>) => {
    const { onFailure, cancelOn, ...rest } = config;
    const full = {
      ...rest,
      id: fnId,
      triggers: [{ event: named(fnId) }],
      ...(cancelOn && { cancelOn: cancelOn.map((item: Loose) => ({ ...item, event: named(item.event) })) }),
      ...(onFailure && { onFailure: async (args: Loose) => onFailure(tools(args)) }),
    };
    return client.createFunction(full, async (args: Loose) => handler(tools(args)));
  };
  for (const [other, definition] of Object.entries(scenario.others ?? {}))
    functions.set(other, define(other, definition));
  const hosted = [...functions.values(), define('main', scenario)];
  functions.set('unregistered', define('unregistered', { handler: () => null }));

  const app = await startApp(sdk.serve(client, hosted));
  const { body } = await service.post('/e/key', { name: named('main'), data: scenario.data ?? {} });
  const { body: runs } = await service.waitFor(`/v1/events/${body.ids[0]}/runs`, ({ body }) => body.data?.length === 1);
  const runId = runs.data[0].run_id as string;
  await scenario.during?.({
    send,
    noted: async (effect) => void (await until(() => effects.includes(effect), { describe: `"${effect}" is noted` })),
    waiting: async (op) => {
      await service.waitFor(`/v1/runs/${runId}`, ({ body }) =>
        body.data?.history.some((entry: Loose) => entry.op === op && entry.status === 'Waiting'),
      );
    },
    cancel: async () => void expect((await service.request('DELETE', `/v1/runs/${runId}`)).status).to.equal(200),
  });
  return { app, runId, effects };
}

async function check(
  { status = 'Completed', output, error, effects }: Scenario,
  result: ScenarioResult,
  service: Service,
): Promise<void> {
  const { body } = await service.waitFor(`/v1/runs/${result.runId}`, ({ body }) => body.data?.ended_at);
  const run = body.data;
  expect(run.status, JSON.stringify(run.error)).to.equal(status);
  if (output !== undefined) expect(run.output).to.deep.equal(output);
  if (error) expect(`${run.error.name} ${run.error.message}`).to.match(error);
  if (effects) expect([...result.effects].sort()).to.deep.equal([...effects].sort());
}
