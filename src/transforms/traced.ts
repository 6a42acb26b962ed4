/** Transforms, each run in a span below its webhook's request. */
import type { Tracing } from '../tracing/tracing.ts';
import type { Transforms } from './transforms.ts';

export function traced(transforms: Transforms, tracing: Tracing | undefined): Transforms {
  if (!tracing) return transforms;
  return {
    ...transforms,
    run: (transform, request) => {
      const attributes = () => ({ 'tidegate.webhook.id': transform.id });
      return tracing.within('transform', 'INTERNAL', attributes, () => transforms.run(transform, request));
    },
  };
}
