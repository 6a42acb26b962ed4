/** What web alone measures: HTTP, webhooks and the pool of transforms. */
import { DEATH_CAUSES, type MetricsRecorder, STOP_CAUSES } from './recorder.ts';
import { BYTES, type MetricsRegistry, SHORT } from './registry.ts';

type WebMeter = Pick<
  MetricsRecorder,
  | 'answered'
  | 'refused'
  | 'received'
  | 'acknowledged'
  | 'webhookAnswered'
  | 'transformRan'
  | 'transformStopped'
  | 'transformQuarantined'
  | 'childForked'
  | 'childGone'
>;

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export function webRecorder(panel: MetricsRegistry): WebMeter {
  const requests = panel.countersBy('http_requests_total', 'HTTP requests answered.', ['method', 'route', 'status']);
  const durations = panel.histogramsBy(
    'http_request_duration_seconds',
    'From the arrival of an HTTP request to its answer; a stream is answered when it begins.',
    ['method', 'route'],
    SHORT,
  );
  const refusals = panel.countersBy('http_refusals_total', 'HTTP requests answered with an error.', ['route', 'code']);
  const bodies = panel.histogram('event_body_bytes', 'Bodies of requests that send events, as they came.', BYTES);
  const acknowledgement = panel.histogram(
    'event_acknowledgement_seconds',
    'From the arrival of a request that sends events to its answer that Redis has them.',
    SHORT,
  );
  const webhooks = panel.countersBy('webhook_requests_total', 'Requests to webhooks.', ['outcome']);
  return {
    answered(method, route, status, ms) {
      requests(method, route, STATUS_CLASSES[Math.floor(status / 100) - 1] ?? '5xx').inc();
      durations(method, route).observe(ms / 1_000);
    },
    refused: (route, code) => refusals(route, code).inc(),
    received: (bytes) => bodies.observe(bytes),
    acknowledged: (ms) => acknowledgement.observe(ms / 1_000),
    webhookAnswered: (outcome) => webhooks(outcome).inc(),
    ...transformMeter(panel),
  };
}

function transformMeter(panel: MetricsRegistry) {
  const durations = panel.histogram(
    'transform_duration_seconds',
    'Runs of transforms, without their waiting; also of code that is only checked.',
    SHORT,
  );
  const stops = panel.counters(
    'transforms_stopped_total',
    'Runs of transforms that had to be stopped.',
    'cause',
    STOP_CAUSES,
  );
  const quarantines = panel.counter('transform_quarantines_total', 'Transforms that were put to rest for a minute.');
  const deaths = panel.counters(
    'transform_child_deaths_total',
    'Child processes for transforms that were killed, ended or died.',
    'cause',
    DEATH_CAUSES,
  );
  const children = panel.gauge('transform_children', 'Child processes for transforms that are alive.');
  let alive = 0;
  children.set(alive);
  return {
    transformRan: (ms) => durations.observe(ms / 1_000),
    transformStopped: (cause) => stops(cause).inc(),
    transformQuarantined: () => quarantines.inc(),
    childForked: () => children.set(++alive),
    childGone(cause) {
      deaths(cause).inc();
      children.set(--alive);
    },
  } satisfies Partial<WebMeter>;
}
