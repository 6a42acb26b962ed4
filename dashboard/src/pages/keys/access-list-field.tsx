import { Select, TextArea } from '../../ui/field.tsx';

export interface AccessList {
  mode: 'allow' | 'deny';
  items: string[];
}

/** As it stands in the form: what is written is split into entries when it is sent. */
export interface AccessListDraft {
  mode: 'all' | 'allow' | 'deny';
  text: string;
}

export function toDraft(list: AccessList | null | undefined): AccessListDraft {
  return list ? { mode: list.mode, text: list.items.join('\n') } : { mode: 'all', text: '' };
}

/** null: no list. */
export function toAccessList({ mode, text }: AccessListDraft): AccessList | null {
  const items = text.split(/[\s,]+/).filter(Boolean);
  return mode === 'all' || items.length === 0 ? null : { mode, items };
}

/** All, only some, or all but some. */
export function AccessListField({
  label,
  things,
  hint,
  draft,
  onChange,
}: {
  label: string;
  /** What is listed: "events". */
  things: string;
  /** How an entry is written. */
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
        <option value="all">All {things}</option>
        <option value="allow">Only these</option>
        <option value="deny">All but these</option>
      </Select>
      {draft.mode !== 'all' && (
        <TextArea
          label={`${label}: the list`}
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
