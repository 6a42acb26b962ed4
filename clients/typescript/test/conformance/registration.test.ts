import { eachCase } from '../../../../test/conformance/cases.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { type AppCase, startApp } from './app.ts';
import { ask, expectRequests, expectResponse, type ReplyCase, type RequestCase, type ResponseCase } from './wire.ts';

interface Case extends AppCase {
  title: string;
  serve: NonNullable<AppCase['serve']>;
  request: RequestCase;
  replies: ReplyCase[];
  requests: RequestCase[];
  answer: ResponseCase;
}

const FIELDS = {
  client: true,
  environment: true,
  functions: true,
  serve: true,
  request: true,
  replies: true,
  requests: true,
  answer: true,
} as const;

describe('TypeScript conforms: registration', () => {
  useCleanEnv();
  const servers = useServers();

  eachCase<Case>('registration', FIELDS, async (given) => {
    const { origin, service, names } = await startApp(given, servers);
    const response = await ask(origin, given.request);
    expectRequests(service.requests, given.requests, names);
    expectResponse(response, given.answer, names);
  });
});
