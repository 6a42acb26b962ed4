/** The headers in which senders pass their span, and apps receive the service's. */
import type { TextMapPropagator } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { ConfigError } from '../config.ts';
import { optionalExport } from './optional-package.ts';

/** @param names OTEL_PROPAGATORS
 *  @returns null: none; undefined: the SDK's default, `tracecontext,baggage`
 *  @throws ConfigError */
export async function propagatorOf(names: string | undefined): Promise<TextMapPropagator | null | undefined> {
  const wanted = (names ?? '').split(',').map((name) => name.trim());
  const chosen = [...new Set(wanted)].filter((name) => name !== '');
  if (chosen.length === 0) return undefined;
  if (chosen.includes('none')) return null;
  return new CompositePropagator({ propagators: await Promise.all(chosen.map(propagator)) });
}

async function propagator(name: string): Promise<TextMapPropagator> {
  const neededFor = `OTEL_PROPAGATORS=${name}`;
  switch (name) {
    case 'tracecontext':
      return new W3CTraceContextPropagator();
    case 'baggage':
      return new W3CBaggagePropagator();
    case 'b3':
    case 'b3multi': {
      const B3Propagator = await optionalExport<new (options: object) => TextMapPropagator>(
        '@opentelemetry/propagator-b3',
        'B3Propagator',
        neededFor,
      );
      // The package's own numbers for one header and for several.
      return new B3Propagator({ injectEncoding: name === 'b3' ? 0 : 1 });
    }
    case 'jaeger':
      return new (
        await optionalExport<new () => TextMapPropagator>(
          '@opentelemetry/propagator-jaeger',
          'JaegerPropagator',
          neededFor,
        )
      )();
    default:
      throw new ConfigError(
        `OTEL_PROPAGATORS: "${name}" is unknown. Choose from tracecontext, baggage, b3, b3multi, jaeger, none`,
      );
  }
}
