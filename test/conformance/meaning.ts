/** How the service interprets an app's response: a fake app sends it, and the state of the run shows the meaning. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AppHost, Call, HostResponse } from '../support/app-host.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

export type Meaning = 'done' | 'failed' | 'retry' | 'progress';

export interface PlayedResponse {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

const SDK = { 'x-service-sdk': 'test:v1.0.0' };

/** Sends the response to the run's first call, and keeps the next call open until the meaning is known. */
export async function expectMeaning(
  service: Service,
  host: AppHost,
  { status, headers, body }: PlayedResponse,
  meaning: Meaning,
): Promise<void> {
  const name = randomUUID();
  const ended = Promise.withResolvers<HostResponse>();
  const calls: Call[] = [];
  host.on('f', (call) => {
    // A run of an earlier case can still have a pending call.
    if (call.body.event.data.name !== name) return {};
    calls.push(call);
    return calls.length === 1 ? { status, headers: { ...SDK, ...headers }, body } : ended.promise;
  });
  const sent = await service.post('/e/key', { name: 'meaning/x', data: { name } });
  const path = `/v1/events/${sent.body.ids[0]}/runs`;
  try {
    expect(await meaningOf(service, path, calls)).to.equal(meaning);
    if (meaning === 'done') expect((await service.get(path)).body.data[0].output).to.deep.equal(outputOf(status, body));
    if (meaning === 'done' || meaning === 'failed') expect(calls).to.have.length(1);
  } finally {
    ended.resolve({});
  }
}

function outputOf(status: number, body: unknown): unknown {
  if (status !== 206) return body;
  return (body as { op: string; data?: unknown }[]).find(({ op }) => op === 'RunComplete')?.data;
}

function meaningOf(service: Service, path: string, calls: readonly Call[]): Promise<Meaning> {
  return until(
    async () => {
      const [run] = (await service.get(path)).body.data;
      if (run.status === 'Completed') return 'done';
      if (run.status === 'Failed') return 'failed';
      const [, next] = calls;
      if (run.error || next?.body.ctx.attempt > 0) return 'retry';
      return (next || (await hasWaiting(service, run.run_id))) && 'progress';
    },
    { describe: 'the response means something to the service' },
  );
}

async function hasWaiting(service: Service, runId: string): Promise<boolean> {
  const { history } = (await service.get(`/v1/runs/${runId}`)).body.data;
  return history.some(({ status }: { status: string }) => status === 'Waiting');
}
