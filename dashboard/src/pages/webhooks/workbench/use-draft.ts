import { useEffect, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import type { Webhook } from '../../../api/types.ts';
import { useInvalidateWebhooks, useUpdateWebhook } from '../../../features/webhooks/queries.ts';
import { toast } from '../../../ui/toast.tsx';

/** Versions of a rejected save: the edited version, and the version that another user saved meanwhile. */
export interface Conflict {
  base: number;
  live: number;
  message: string;
}

export interface Draft {
  code: string;
  edit(code: string): void;
  dirty: boolean;
  /** Another version was saved since editing began. */
  isBehind: boolean;
  /** The conflict that caused a save to be rejected. */
  conflict: Conflict | undefined;
  saving: boolean;
  /** When this page last saved it, Unix milliseconds; undefined: not yet. */
  savedAt: number | undefined;
  /** @param message why, for the list of versions
   *  @param onSaved not called when the save is refused */
  save(message?: string, onSaved?: () => void): void;
  /** Saves after a conflict, over the version that the user has seen. */
  overwrite(): void;
  /** Continues editing after a conflict. */
  dismiss(): void;
  /** Discards the changes and loads the saved version. */
  revert(): void;
}

/** The transform with unsaved changes. */
export function useDraft(webhook: Webhook): Draft {
  const [code, edit] = useState(webhook.transform);
  const [base, setBase] = useState({ transform: webhook.transform, version: webhook.version });
  const [conflict, setConflict] = useState<Conflict>();
  const [savedAt, setSavedAt] = useState<number>();
  const change = useUpdateWebhook(webhook.id);
  const refresh = useInvalidateWebhooks();
  const dirty = code !== base.transform;
  // A save that changes only settings does not conflict with the edited fields.
  const isSameTransform = webhook.transform === base.transform;
  const baseVersion = isSameTransform ? Math.max(base.version, webhook.version) : base.version;
  const load = ({ transform, version }: Pick<Webhook, 'transform' | 'version'>) => {
    edit(transform);
    setBase({ transform, version });
    setConflict(undefined);
  };
  // If the user has no changes, another user's version is loaded immediately.
  useEffect(() => {
    const { transform, version } = webhook;
    if (dirty || isSameTransform || version <= base.version) return;
    edit(transform);
    setBase({ transform, version });
  }, [webhook, dirty, isSameTransform, base]);
  const save = (version: number, message = '', onSaved?: () => void) => {
    if (!dirty || change.isPending) return;
    const text = message.trim();
    change.mutate(
      { transform: code, if_version: version, ...(text !== '' && { message: text }) },
      {
        onSuccess(saved) {
          setBase({ transform: code, version: saved.version });
          setConflict(undefined);
          setSavedAt(Date.now());
          toast.success('Transform saved');
          onSaved?.();
        },
        onError(error) {
          const live = versionInConflict(error);
          if (live === undefined) return toast.error(error);
          setConflict({ base: baseVersion, live, message });
          void refresh();
        },
      },
    );
  };
  return {
    code,
    edit,
    dirty,
    isBehind: dirty && !isSameTransform && webhook.version > base.version && webhook.transform !== code,
    conflict,
    saving: change.isPending,
    savedAt,
    save: (message, onSaved) => save(baseVersion, message, onSaved),
    overwrite() {
      if (conflict) save(conflict.live, conflict.message);
    },
    dismiss: () => setConflict(undefined),
    revert: () => load(webhook),
  };
}

/** @returns the version that the webhook has by now */
function versionInConflict(error: Error): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 'version_conflict') return undefined;
  return typeof error.details.version === 'number' ? error.details.version : undefined;
}
