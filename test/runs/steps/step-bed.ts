/** A service and an app whose functions respond as a test says, for tests of runs with steps. */
import { type AppHost, startAppHost } from '../../support/app-host.ts';
import { type Service, startService } from '../../support/service.ts';

/** Another worker takes over a dead worker's jobs after this time; a run without its job is reconciled after four times
 *  as long. */
export const SOON = { STALLED_AFTER_SECONDS: '1', RETRY_SCALE: '0.0005' };

/** The operation of the step with this number. */
export const op = (op: string, n: number, rest: object = {}) => ({
  id: n.toString(16).padStart(40, '0'),
  op,
  name: `n${n}`,
  displayName: `step ${n}`,
  ...rest,
});

/** One service for a suite, and an app for each of its tests. */
export function useStepBed() {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ env: SOON });
  });
  after(() => service.stop());
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(() => host.close());

  return {
    get service() {
      return service;
    },
    get host() {
      return host;
    },
    send: async (event: object) => (await service.post('/e/key', event)).body.ids[0] as string,
    /** The run of the event, when it has ended. */
    ended: async (eventId: string) => {
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      return (await service.get(`/v1/runs/${body.data[0].run_id}`)).body.data;
    },
  };
}
