import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { type AppCase, startApp } from './app.ts';
import { ask, expectResponse, type RequestCase, type ResponseCase } from './wire.ts';

interface Case extends Omit<AppCase, 'replies'> {
  title: string;
  request: RequestCase;
  answer: ResponseCase;
  meaning?: string;
}

const FIELDS = {
  client: true,
  environment: true,
  functions: true,
  serve: true,
  request: true,
  answer: true,
  meaning: 'it is the service that reads a response',
} as const;

describe('TypeScript conforms: serving', () => {
  useCleanEnv();
  const servers = useServers();

  eachCase<Case>('serving', FIELDS, async (given) => {
    const { origin, service, names } = await startApp(given, servers);
    expectResponse(await ask(origin, given.request), given.answer, names);
    expect(service.requests).to.deep.equal([]);
  });
});
