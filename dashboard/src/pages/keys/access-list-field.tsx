import { Select, TextArea } from '../../ui/field.tsx';

export interface AccessList {
  mode: 'allow' | 'deny';
  items: string[];
}

/** Form state; the text is split into items on save. */
export interface AccessListDraft {
  mode: 'all' | 'allow' | 'deny';
  text: string;
}

export function toDraft(list: AccessList | null | undefined): AccessListDraft {
  return list ? { mode: list.mode, text: list.items.join('\n') } : { mode: 'all', text: '' };
}

/** null: no restriction. */
export function toAccessList({ mode, text }: AccessListDraft): AccessList | null {
  const items = text.split(/[\s,]+/).filter(Boolean);
  return mode === 'all' || items.length === 0 ? null : { mode, items };
}

/** Allow all, an allow list, or a deny list. */
export function AccessListField({
  label,
  items,
  hint,
  draft,
  onChange,
}: {
  label: string;
  /** Plural noun of the items: "events". */
  items: string;
  hint: string;
  draft: AccessListDraft;
  onChange(draft: AccessListDraft): void;
}) {
  return (
    <div className="space-y-2">
      <Select
        label={label}
        value={draft.mode}
        onChange={({ target }) => onChange({ ...draft, mode: target.value as AccessListDraft['mode'] })}
      >
        <option value="all">Allow all {items}</option>
        <option value="allow">Allow listed</option>
        <option value="deny">Deny listed</option>
      </Select>
      {draft.mode !== 'all' && (
        <TextArea
          label={`${label}: list`}
          hideLabel
          hint={hint}
          spellCheck={false}
          required
          value={draft.text}
          onChange={({ target }) => onChange({ ...draft, text: target.value })}
        />
      )}
    </div>
  );
}
