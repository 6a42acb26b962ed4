/** Span attributes that several rooms use. Names without the prefix `tidegate.` follow OpenTelemetry's semantic conventions. */
import type { Attributes } from '@opentelemetry/api';

/** @param queue where the messages are sent to, or processed from */
export function messagingAttributes(queue: string, operation: 'send' | 'process', count: number): Attributes {
  return {
    'messaging.system': 'bullmq',
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.batch.message_count': count,
  };
}

export function eventAttributes(internalId: string, name: string): Attributes {
  return { 'tidegate.event.id': internalId, 'tidegate.event.name': name };
}

export interface TracedRun {
  env: string;
  eventId: string;
  runId: string;
  functionId: string;
}

export function runAttributes({ env, eventId, runId, functionId }: TracedRun): Attributes {
  return {
    'tidegate.environment': env,
    'tidegate.event.id': eventId,
    'tidegate.run.id': runId,
    'tidegate.function.id': functionId,
  };
}
