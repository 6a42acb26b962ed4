import { useDeferredValue, useMemo } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { CodeCard } from './code-card.tsx';
import { completionsFor } from './completions.ts';
import { RejectedOffer } from './rejected-offer.tsx';
import { Result } from './result.tsx';
import { SampleCard } from './sample-card.tsx';
import { parseTransformError } from './transform-error.ts';
import type { Draft } from './use-draft.ts';
import { usePreview } from './use-preview.ts';
import type { SampleState } from './use-sample.ts';

interface WorkbenchProps {
  webhook: Webhook;
  draft: Draft;
  sample: SampleState;
}

/** Editor and sample request on the left, the live result on the right. */
export function Workbench({ webhook, draft, sample: sampleState }: WorkbenchProps) {
  const canWrite = useHasAccess('write');
  const { sample } = sampleState;
  const preview = usePreview(draft.code, sample, canWrite && !sampleState.loading);
  const error = useMemo(() => (preview.error ? parseTransformError(preview.error) : undefined), [preview.error]);
  const code = useDeferredValue(draft.code);
  const completions = useMemo(() => completionsFor(code, sample), [code, sample]);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] xl:grid-cols-[minmax(0,7fr)_minmax(0,6fr)]">
      <div className="min-w-0 space-y-5">
        <RejectedOffer webhook={webhook} draft={draft} />
        <CodeCard webhook={webhook} draft={draft} completions={completions} error={error} canWrite={canWrite} />
        <SampleCard webhook={webhook} sampleState={sampleState} />
      </div>
      <Result webhook={webhook} sample={sample} preview={preview} error={error} canWrite={canWrite} />
    </div>
  );
}
