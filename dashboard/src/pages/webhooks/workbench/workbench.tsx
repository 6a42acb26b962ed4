import { useDeferredValue, useMemo } from 'react';
import { useHasAccess } from '../../../api/current-user.ts';
import type { Webhook } from '../../../api/types.ts';
import { CodeCard } from './code-card.tsx';
import { completionsFor } from './completions.ts';
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

/** A transform is written at the left, a request stands beneath it, and what comes of the two is at the right while one types. */
export function Workbench({ webhook, draft, sample: inUse }: WorkbenchProps) {
  const mayWrite = useHasAccess('write');
  const { sample } = inUse;
  const preview = usePreview(draft.code, sample, mayWrite && !inUse.loading);
  const fault = useMemo(() => (preview.error ? parseTransformError(preview.error) : undefined), [preview.error]);
  const code = useDeferredValue(draft.code);
  const completions = useMemo(() => completionsFor(code, sample), [code, sample]);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)] xl:grid-cols-[minmax(0,7fr)_minmax(0,6fr)]">
      <div className="min-w-0 space-y-5">
        <CodeCard draft={draft} completions={completions} fault={fault} mayWrite={mayWrite} />
        <SampleCard webhook={webhook} inUse={inUse} />
      </div>
      <Result webhook={webhook} sample={sample} preview={preview} fault={fault} mayWrite={mayWrite} />
    </div>
  );
}
