/** A view of the service for the tests of one app. */
import { expect } from 'chai';
import type { Service } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
export type Loose = any;

export class Outside {
  readonly service: Service;
  /** The app's ID; its functions run for events <app>/<function>. */
  readonly app: string;

  constructor(service: Service, app: string) {
    this.service = service;
    this.app = app;
  }

  /** Sends the event <app>/<name>. @returns its ID */
  async send(name: string, data: object = {}): Promise<string> {
    const { status, body } = await this.service.post(this.service.eventPath, { name: `${this.app}/${name}`, data });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.ids[0];
  }

  /** Waits for the end of the event's only run. */
  async endedRun(eventId: string): Promise<Loose> {
    const path = `/v1/events/${eventId}/runs`;
    const { body } = await this.service.waitFor(path, ({ body }) => body.data?.[0]?.ended_at);
    expect(body.data).to.have.length(1);
    return body.data[0];
  }

  /** Waits for the output of the event's run. */
  async output(eventId: string): Promise<Loose> {
    const run = await this.endedRun(eventId);
    expect(run.status, JSON.stringify(run.error)).to.equal('Completed');
    return run.output;
  }

  /** Resolves when the event's run waits for another event. */
  async waiting(eventId: string): Promise<void> {
    const { body } = await this.service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    await this.service.waitFor(`/v1/runs/${body.data[0].run_id}`, ({ body }) =>
      body.data?.history.some((entry: Loose) => entry.op === 'WaitForEvent' && entry.status === 'Waiting'),
    );
  }

  /** Resolves when the event's run waits in such an operation (true), or has ended without (false). */
  async isWaitingOrEnded(eventId: string, op: string): Promise<boolean> {
    const { body } = await this.service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.length === 1);
    const waits = ({ history }: Loose) => history.some((entry: Loose) => entry.op === op && entry.status === 'Waiting');
    const path = `/v1/runs/${body.data[0].run_id}`;
    const run = await this.service.waitFor(path, ({ body }) => body.data?.ended_at || waits(body.data));
    return !run.body.data.ended_at;
  }

  /** Waits for the first event <app>/<name> and returns its data. */
  async eventData(name: string): Promise<Loose> {
    const path = `/v1/events?name=${encodeURIComponent(`${this.app}/${name}`)}`;
    const { body } = await this.service.waitFor(path, ({ body }) => body.data?.length > 0);
    return body.data[0].data;
  }
}
