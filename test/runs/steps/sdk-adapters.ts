/** Every scenario is written once, and runs with two SDKs: the client of this repository and the official Inngest
 *  SDK. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inngest, NonRetriableError as OfficialNonRetriable, RetryAfterError as OfficialRetryAfter } from 'inngest';
import { serve as serveOfficial } from 'inngest/node';
import { NonRetriableError, RetryAfterError, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import type { Service } from '../../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: the libraries agree in shape, not in types
export type Loose = any;

/** The parts of an SDK that scenarios use. */
export interface SdkAdapter {
  name: string;
  client(service: Service, id: string): Loose;
  serve(client: Loose, functions: Loose[]): RequestListener;
  NonRetriableError: new (message: string) => Error;
  RetryAfterError: new (message: string, delay: number | string | Date) => Error;
}

const quiet = { info() {}, warn() {}, error() {}, debug() {} };

export const SDK_ADAPTERS: SdkAdapter[] = [
  {
    name: 'our client',
    client: (service, id) => new Tidegate({ id, isDev: true, baseUrl: service.url }),
    serve: (client, functions) => serve({ client, functions }),
    NonRetriableError,
    RetryAfterError,
  },
  {
    name: 'the official SDK',
    client: (service, id) => new Inngest({ id, isDev: true, baseUrl: service.url, logger: quiet }),
    serve: (client, functions) => serveOfficial({ client, functions }),
    NonRetriableError: OfficialNonRetriable,
    RetryAfterError: OfficialRetryAfter,
  },
];

export interface App {
  url: string;
  register(): Promise<void>;
  close(): Promise<void>;
}

/** Hosts the functions and registers them with the service. */
export async function startApp(listener: RequestListener): Promise<App> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
  const app: App = {
    url,
    async register() {
      const response = await fetch(url, { method: 'PUT' });
      if (response.status !== 200) throw new Error(`not registered: ${await response.text()}`);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await app.register();
  return app;
}
