import { eachCase } from '../../../../test/conformance/cases.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { type AppCase, startApp } from './app.ts';
import { type AnswerCase, ask, expectAnswer, expectRequests, type ReplyCase, type RequestCase } from './wire.ts';

interface Case extends AppCase {
  title: string;
  serve: NonNullable<AppCase['serve']>;
  request: RequestCase;
  replies: ReplyCase[];
  requests: RequestCase[];
  answer: AnswerCase;
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
    const answer = await ask(origin, given.request);
    expectRequests(service.requests, given.requests, names);
    expectAnswer(answer, given.answer, names);
  });
});
