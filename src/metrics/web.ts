/** Metrics of web: HTTP requests, webhooks and transforms. */
import { EXIT_CAUSES, type MetricsRecorder, STOP_CAUSES, type TransformRecorder } from './recorder.ts';
import { BYTES_BUCKETS, type MetricsRegistry, SHORT_BUCKETS } from './registry.ts';

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export function webRecorder(registry: MetricsRegistry) {
  const requests = registry.countersBy('http_requests_total', 'HTTP requests answered.', ['method', 'route', 'status']);
  const durations = registry.histogramsBy(
    'http_request_duration_seconds',
    'Time from the start of an HTTP request to its response, or to the first byte of a stream.',
    ['method', 'route'],
    SHORT_BUCKETS,
  );
  const errors = registry.countersBy('http_errors_total', 'HTTP requests answered with an error.', ['route', 'code']);
  const requestSizes = registry.histogram(
    'event_request_size_bytes',
    'Size of the bodies of requests that send events.',
    BYTES_BUCKETS,
  );
  const acknowledgements = registry.histogram(
    'event_acknowledgement_duration_seconds',
    'Time from the start of a request that sends events to its successful response.',
    SHORT_BUCKETS,
  );
  const webhooks = registry.countersBy('webhook_requests_total', 'Requests to webhooks.', ['outcome']);
  const verifications = registry.countersBy(
    'webhook_verifications_total',
    'Requests to webhooks with a provider, by whether they were verified.',
    ['result'],
  );
  const aborted = registry.counter('ramps_aborted_total', 'Ramps of versions of apps that aborted themselves.');
  return {
    rampAborted: () => aborted.inc(),
    httpRequest(method, route, status, ms) {
      requests(method, route, STATUS_CLASSES[Math.floor(status / 100) - 1] ?? '5xx').inc();
      durations(method, route).observe(ms / 1_000);
    },
    httpError: (route, code) => errors(route, code).inc(),
    eventRequestReceived: (bytes) => requestSizes.observe(bytes),
    eventsAcknowledged: (ms) => acknowledgements.observe(ms / 1_000),
    webhookRequest: (outcome) => webhooks(outcome).inc(),
    webhookVerified: (result) => verifications(result).inc(),
    ...transformRecorder(registry),
  } satisfies Partial<MetricsRecorder>;
}

function transformRecorder(registry: MetricsRegistry): TransformRecorder {
  const durations = registry.histogram(
    'transform_duration_seconds',
    'Duration of transforms, without queueing; includes checks of code.',
    SHORT_BUCKETS,
  );
  const stopped = registry.counters(
    'transforms_stopped_total',
    'Transforms stopped for exceeding a limit.',
    'cause',
    STOP_CAUSES,
  );
  const quarantines = registry.counter('transform_quarantines_total', 'Transforms that were quarantined for a minute.');
  const exits = registry.counters(
    'transform_process_exits_total',
    'Child processes for transforms that have exited.',
    'cause',
    EXIT_CAUSES,
  );
  const processes = registry.gauge('transform_processes', 'Child processes for transforms that are running.');
  let running = 0;
  processes.set(running);
  return {
    transformCompleted: (ms) => durations.observe(ms / 1_000),
    transformStopped: (cause) => stopped(cause).inc(),
    transformQuarantined: () => quarantines.inc(),
    transformProcessStarted: () => processes.set(++running),
    transformProcessExited(cause) {
      exits(cause).inc();
      processes.set(--running);
    },
  };
}
