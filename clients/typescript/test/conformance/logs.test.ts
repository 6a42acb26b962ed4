import { expect } from 'chai';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { expandedLines, expectLines, type LineCase } from '../../../../test/conformance/log-lines.ts';
import { until } from '../../../../test/support/until.ts';
import { hashStepId } from '../../src/steps/ids.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { startApp } from './app.ts';
import { type CallCase, requestOf } from './call.ts';
import type { Program } from './program.ts';
import { ask, expectResponse, type ReplyCase, type ResponseCase } from './wire.ts';

interface Case {
  title: string;
  program: Program;
  call: CallCase;
  environment?: Record<string, string>;
  replies?: ReplyCase[];
  answer: ResponseCase;
  batch: { attempt: number; lines: LineCase[]; dropped: number } | null;
  tries?: number;
}

const FIELDS = {
  program: true,
  call: true,
  environment: true,
  replies: true,
  answer: true,
  batch: true,
  tries: true,
} as const;
const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };

describe('TypeScript conforms: logs', () => {
  useCleanEnv();
  const servers = useServers();
  afterEach(() => {
    delete process.env.AWS_LAMBDA_FUNCTION_NAME;
  });

  eachCase<Case>('logs', FIELDS, async ({ program, call, environment = {}, replies, answer, batch, tries = 1 }) => {
    only(environment, ['AWS_LAMBDA_FUNCTION_NAME', 'SERVICE_LOGS']);
    const fn = { id: 'fn', triggers: [{ event: 'order/paid' }], program };
    const app = { client: CLIENT, environment, functions: [fn], ...(replies && { replies }) };
    const { origin, service, names } = await startApp(app, servers);
    const from = Date.now();
    expectResponse(await ask(origin, requestOf({ logs: true, ...call })), answer, names);
    const wanted = batch ? tries : 0;
    await until(() => service.requests.length >= wanted, { describe: 'the lines arrive' });
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(
      Array(wanted).fill('POST /v0/runs/01HQZX8K2D3F4G5H6J7K8M9N0P/logs'),
    );
    const [first, ...others] = service.requests.map(({ body }) => body);
    if (!batch || first === undefined) return;
    for (const other of others) expect(other).to.equal(first);
    const { batch: id, lines, ...rest } = JSON.parse(first);
    only(rest, ['attempt', 'dropped']);
    expect(id).to.match(/^[\w-]{1,40}$/);
    expect(rest).to.deep.equal({ attempt: batch.attempt, dropped: batch.dropped });
    expectLines(lines, expandedLines(batch.lines, hashStepId), { from, to: Date.now() });
  });
});
