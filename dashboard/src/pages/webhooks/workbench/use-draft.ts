import { useEffect, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { toast } from '../../../ui/toast.tsx';

export interface Draft {
  code: string;
  edit(code: string): void;
  dirty: boolean;
  /** Another version was saved since editing began. */
  conflict: boolean;
  saving: boolean;
  save(): void;
  /** Discards the changes and loads the saved version. */
  revert(): void;
}

/** The transform with unsaved changes. */
export function useDraft(webhook: Webhook): Draft {
  const [code, edit] = useState(webhook.transform);
  const [base, setBase] = useState(webhook.transform);
  const change = useUpdateWebhook(webhook.id);
  const dirty = code !== base;
  const load = (transform: string) => {
    edit(transform);
    setBase(transform);
  };
  // Without own changes, another user's version is loaded immediately.
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
            toast.success('Transform saved');
          },
          onError: toast.error,
        },
      );
    },
    revert: () => load(webhook.transform),
  };
}
