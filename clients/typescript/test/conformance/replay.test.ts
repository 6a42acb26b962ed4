import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { hashStepId } from '../../src/steps/ids.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { startApp } from './app.ts';
import type { Program } from './program.ts';
import { type AnswerCase, ask, expectAnswer, expectRequests, PATH, type ReplyCase, type RequestCase } from './wire.ts';

interface CallCase {
  event?: object;
  steps?: Record<string, unknown>;
  stack?: string[];
  attempt?: number;
  max_attempts?: number;
  step_id?: string;
  run_id?: string;
  disable_immediate_execution?: boolean;
}

interface Case {
  title: string;
  program: Program;
  call: CallCase;
  replies?: ReplyCase[];
  requests?: RequestCase[];
  answer: AnswerCase;
  meaning: string;
}

const FIELDS = {
  program: true,
  call: true,
  replies: true,
  requests: true,
  answer: true,
  meaning: 'it is the service that reads an answer',
} as const;

const EVENT = { name: 'order/paid', data: { total: 3 }, id: 'evt-1', ts: 1_767_225_600_000 };
const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };

describe('TypeScript conforms: replay', () => {
  useCleanEnv();
  const servers = useServers();

  eachCase<Case>('replay', FIELDS, async ({ program, call, replies, requests, answer }) => {
    const fn = { id: 'fn', triggers: [{ event: 'order/paid' }], program };
    const app = { client: CLIENT, environment: {}, functions: [fn], ...(replies && { replies }) };
    const { origin, service, names } = await startApp(app, servers);
    expectAnswer(await ask(origin, requestOf(call)), answer, names);
    expectRequests(service.requests, requests ?? [], names);
  });
});

function requestOf({ event = EVENT, steps = {}, stack = Object.keys(steps), step_id, ...ctx }: CallCase): RequestCase {
  only(ctx, ['attempt', 'max_attempts', 'run_id', 'disable_immediate_execution']);
  const stepId = step_id === undefined ? 'step' : hashStepId(step_id);
  const memos = Object.entries(steps).map(([name, memo]) => [hashStepId(name), memo]);
  return {
    method: 'POST',
    path: `${PATH}?fnId=shop-fn&stepId=${stepId}`,
    headers: { 'content-type': 'application/json' },
    body: {
      event,
      events: [event],
      steps: Object.fromEntries(memos),
      ctx: {
        run_id: '01HQZX8K2D3F4G5H6J7K8M9N0P',
        attempt: 0,
        max_attempts: 5,
        disable_immediate_execution: false,
        ...ctx,
        stack: { stack: stack.map(hashStepId), current: stack.length },
        step_id: stepId,
        use_api: false,
      },
      use_api: false,
      version: -1,
    },
  };
}
