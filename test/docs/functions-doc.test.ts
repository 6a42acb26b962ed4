import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { serve } from 'tidegate/node';
import { type App, type Loose, startApp } from '../runs/steps/sdk-adapters.ts';
import { type Service, startService } from '../support/service.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/functions.md'), 'utf8');
/** Beside the tests, so that what it imports is found. */
const MODULE = join(import.meta.dirname, '.functions-of-the-docs.ts');

const blocks = [...PAGE.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code as string);
const claims = [...PAGE.matchAll(/^> (`[^→]+`) → (\w+)(?: `(.+)`)?$/gm)].map(([text, events, status, result]) => ({
  title: (text as string).slice(2),
  events: [...(events as string).matchAll(/`([^`]+)` `([^`]+)`/g)].map(([, name, data]) => ({
    name,
    data: JSON.parse(data as string),
  })),
  status,
  result,
}));

describe('docs/functions.md', () => {
  let service: Service;
  let app: App;
  before(async () => {
    service = await startService({ env: { RETRY_SCALE: '0.0005' } });
    writeFileSync(
      MODULE,
      blocks.join('\n').replace("id: 'shop'", `id: 'shop', isDev: true, baseUrl: '${service.url}'`),
    );
    const { client, ...functions } = (await import(MODULE)) as Record<string, Loose>;
    app = await startApp(serve({ client, functions: Object.values(functions) }));
  });
  after(async () => {
    rmSync(MODULE, { force: true });
    await app?.close();
    await service.stop();
  });

  it('has a tested claim below every example', () => {
    expect(claims.length).to.equal(blocks.length - 1);
  });

  for (const { title, events, status, result } of claims) {
    it(`states correctly that ${title}`, async () => {
      const [first, ...later] = events;
      const { body } = await service.post('/e/key', first as object);
      const runs = `/v1/events/${body.ids[0]}/runs`;
      for (const event of later) {
        const { run_id } = (await service.waitFor(runs, ({ body }) => body.data?.length === 1)).body.data[0];
        await service.waitFor(`/v1/runs/${run_id}`, ({ body }) =>
          body.data?.history.some((entry: Loose) => entry.status === 'Waiting'),
        );
        await service.post('/e/key', event);
      }
      const isOver = (run: Loose) => run?.ended_at || run?.state.kind === 'paused';
      const [run] = (await service.waitFor(runs, ({ body }) => isOver(body.data?.[0]))).body.data;
      expect(run.state.kind, JSON.stringify(run.error)).to.equal(status?.toLowerCase());
      if (status === 'Completed') expect(run.output).to.deep.equal(JSON.parse(result as string));
      if (status === 'Failed' || status === 'Paused') expect(run.error.message).to.equal(result);
    });
  }

  it('states correctly that a failure handler is called', async () => {
    await service.waitFor('/v1/events?name=docs/alarm', ({ body }) => body.data?.[0]?.data.message === 'out of paper');
  });
});
