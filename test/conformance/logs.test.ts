import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { ulid } from 'ulid';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';
import { expandedLines, type LineCase } from './log-lines.ts';

interface Case {
  title: string;
  batch: { attempt: number; lines: LineCase[]; dropped: number } | null;
  [ofTheClient: string]: unknown;
}

const AT = Date.UTC(2026, 5, 15);
const hash = (name: string) => createHash('sha1').update(name).digest('hex');

/** The real service takes what the clients send. */
describe('The service conforms: logs', () => {
  let service: Service;
  let host: AppHost;
  let runId: string;
  before(async () => {
    service = await startService();
    host = await startAppHost();
    await host.register(service, [{ id: 'f', triggers: [{ event: 'logs/x' }] }]);
  });
  beforeEach(async () => {
    const { body } = await service.post('/e/key', { name: 'logs/x', data: {} });
    const runs = await service.waitFor(
      `/v1/events/${body.ids[0]}/runs`,
      (response) => response.body.data?.[0]?.ended_at,
    );
    runId = runs.body.data[0].run_id;
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  eachCase<Case>(
    'logs',
    Object.fromEntries('program call environment replies answer batch tries'.split(' ').map((field) => [field, true])),
    async ({ batch }) => {
      const { attempt, lines: given, dropped } = batch as NonNullable<Case['batch']>;
      const lines = expandedLines(given, hash).map(({ message, ...line }, n) => {
        const text = typeof message === 'string' ? message : message.of.repeat(message.at_most);
        return { at: AT + n, message: text, ...line };
      });
      const sent = await service.post(`/v0/runs/${runId}/logs`, { batch: ulid(), attempt, lines, dropped });
      expect([sent.status, sent.body]).to.deep.equal([200, {}]);
      const { body } = await service.get(`/v1/runs/${runId}/logs?limit=1000`);
      expect(body.data).to.deep.equal(
        lines.map(({ at, level, message, fields = null, step = null }) => {
          return { at: new Date(at).toISOString(), level, message, fields, step_id: step, attempt };
        }),
      );
      expect(body.metadata.dropped).to.equal(dropped);
    },
    ({ batch }) => batch !== null,
  );
});
