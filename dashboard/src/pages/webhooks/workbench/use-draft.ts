import { useEffect, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { useTell } from '../../../ui/toast.tsx';

export interface Draft {
  code: string;
  edit(code: string): void;
  dirty: boolean;
  /** Somebody else has saved another version since this one was begun. */
  conflict: boolean;
  saving: boolean;
  save(): void;
  /** To what is saved now. */
  revert(): void;
}

/** The transform as it is being written. */
export function useDraft(webhook: Webhook): Draft {
  const [code, edit] = useState(webhook.transform);
  const [base, setBase] = useState(webhook.transform);
  const change = useUpdateWebhook(webhook.id);
  const tell = useTell();
  const dirty = code !== base;
  const take = (transform: string) => {
    edit(transform);
    setBase(transform);
  };
  // Nothing of one's own is at stake: what others save is shown at once.
  useEffect(() => {
    if (dirty || webhook.transform === base) return;
    edit(webhook.transform);
    setBase(webhook.transform);
  }, [webhook.transform, dirty, base]);
  return {
    code,
    edit,
    dirty,
    conflict: dirty && webhook.transform !== base && webhook.transform !== code,
    saving: change.isPending,
    save() {
      if (!dirty || change.isPending) return;
      change.mutate(
        { transform: code },
        {
          onSuccess() {
            setBase(code);
            tell.done('Saved. The next request goes through this transform.');
          },
          onError: tell.failed,
        },
      );
    },
    revert: () => take(webhook.transform),
  };
}
