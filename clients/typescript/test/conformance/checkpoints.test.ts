import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { startApp } from './app.ts';
import { type CallCase, requestOf } from './call.ts';
import type { CheckpointCase } from './options.ts';
import type { Program } from './program.ts';
import { ask, expectRequests, expectResponse, type ReplyCase, type RequestCase, type ResponseCase } from './wire.ts';

interface Case {
  title: string;
  program: Program;
  checkpoint?: CheckpointCase;
  client_checkpoint?: boolean;
  environment?: Record<string, string>;
  call: CallCase;
  replies?: ReplyCase[];
  requests?: RequestCase[];
  answer: ResponseCase;
  meaning: string;
}

const FIELDS = {
  program: true,
  checkpoint: true,
  client_checkpoint: true,
  environment: true,
  call: true,
  replies: true,
  requests: true,
  answer: true,
  meaning: 'it is the service that reads a response',
} as const;

const CLIENT = { id: 'shop', is_dev: true, base_url: '{{service}}' };

describe('TypeScript conforms: checkpoints', () => {
  useCleanEnv();
  const servers = useServers();
  afterEach(() => {
    delete process.env.AWS_LAMBDA_FUNCTION_NAME;
  });

  eachCase<Case>('checkpoints', FIELDS, async (given) => {
    const { program, checkpoint, client_checkpoint, environment = {}, call, replies, requests, answer } = given;
    only(environment, ['AWS_LAMBDA_FUNCTION_NAME']);
    const fn = {
      id: 'fn',
      triggers: [{ event: 'order/paid' }],
      program,
      ...(checkpoint !== undefined && { checkpoint }),
    };
    const client = { ...CLIENT, ...(client_checkpoint !== undefined && { checkpoint: client_checkpoint }) };
    const app = { client, environment, functions: [fn], ...(replies && { replies }) };
    const { origin, service, names } = await startApp(app, servers);
    expectResponse(await ask(origin, requestOf(call)), answer, names);
    expectRequests(service.requests, requests ?? [], names);
  });
});
