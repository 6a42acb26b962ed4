import { eachCase } from '../../../../test/conformance/cases.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { startApp } from './app.ts';
import { type CallCase, requestOf } from './call.ts';
import type { Program } from './program.ts';
import { ask, expectRequests, expectResponse, type ReplyCase, type RequestCase, type ResponseCase } from './wire.ts';

interface Case {
  title: string;
  program: Program;
  call: CallCase;
  replies?: ReplyCase[];
  requests?: RequestCase[];
  answer: ResponseCase;
  meaning: string;
}

const FIELDS = {
  program: true,
  call: true,
  replies: true,
  requests: true,
  answer: true,
  meaning: 'it is the service that reads a response',
} as const;

const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };

describe('TypeScript conforms: replay', () => {
  useCleanEnv();
  const servers = useServers();

  eachCase<Case>('replay', FIELDS, async ({ program, call, replies, requests, answer }) => {
    const fn = { id: 'fn', triggers: [{ event: 'order/paid' }], program };
    const app = { client: CLIENT, environment: {}, functions: [fn], ...(replies && { replies }) };
    const { origin, service, names } = await startApp(app, servers);
    expectResponse(await ask(origin, requestOf(call)), answer, names);
    expectRequests(service.requests, requests ?? [], names);
  });
});
