import { useEffect, useId, useMemo, useState } from 'react';
import type { SearchKind } from '../../../../src/model/search/syntax.ts';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ExpressionField } from '../../ui/expression-field.tsx';
import { completionsFor } from './completions.ts';
import { SearchHelp } from './search-help.tsx';
import { useKnown } from './use-known.ts';

const PLACEHOLDERS: Record<SearchKind, string> = {
  events: 'data.customer.id == "c_1", an ID, a name or a text',
  runs: 'event.data.customer.id == "c_1", an ID, a name or an error',
};

interface SearchBoxProps {
  of: SearchKind;
  /** The search that applies. */
  search: string | undefined;
  /** The name of the events whose fields are offered. */
  eventName?: string | undefined;
  /** Why the search request failed. */
  error?: Error | null;
  label?: string;
  /** Each change applies, without Enter and button. */
  atOnce?: boolean;
  onSearch(search: string | undefined): void;
}

/** An expression, or a text to look for. Applies on Enter. */
export function SearchBox({
  of,
  search,
  eventName,
  error,
  label = 'Search',
  atOnce = false,
  onSearch,
}: SearchBoxProps) {
  const [typed, setTyped] = useState(search ?? '');
  const [isUsed, setIsUsed] = useState(false);
  const errorId = useId();
  useEffect(() => setTyped(search ?? ''), [search]);
  const known = useKnown(of, eventName, isUsed);
  const complete = useMemo(
    () => (before: string, after: string) => completionsFor(of, known, before, after),
    [of, known],
  );
  const apply = () => onSearch(typed.trim() || undefined);
  const refused = refusalOf(error);
  // The position is of the text that was searched.
  const shown = refused && typed.trim() === search?.trim() ? refused : undefined;
  return (
    <div className="min-w-0">
      {label !== 'Search' && (
        <div className="mb-1 text-sm font-medium" aria-hidden="true">
          {label}
        </div>
      )}
      <div className="flex gap-2">
        <div className="min-w-0 flex-1">
          <ExpressionField
            label={label}
            value={typed}
            placeholder={PLACEHOLDERS[of]}
            complete={complete}
            onChange={(text) => {
              setTyped(text);
              if (atOnce || (text === '' && search !== undefined)) onSearch(text || undefined);
            }}
            onUse={() => setIsUsed(true)}
            onSubmit={atOnce ? () => {} : apply}
            error={shown}
            describedBy={shown && errorId}
          />
        </div>
        {!atOnce && (
          <Button icon="search" aria-label="Apply search" onClick={apply}>
            <span className="hidden sm:inline">Search</span>
          </Button>
        )}
        {!atOnce && <SearchHelp of={of} onUse={(example) => onSearch(example)} />}
      </div>
      {shown && <Refusal id={errorId} text={typed} {...shown} />}
    </div>
  );
}

/** The expression with the error marked, and what is wrong. */
function Refusal({ id, text, at, message }: { id: string; text: string; at: number; message: string }) {
  const [before, there, after] = [text.slice(0, at), text.slice(at, at + 1) || ' ', text.slice(at + 1)];
  return (
    <div id={id} role="alert" className="mt-2 rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm">
      <p className="font-mono text-xs break-all">
        {before}
        <mark className="rounded-sm bg-bad text-surface">{there}</mark>
        {after}
      </p>
      <p className="mt-1 break-words">{message}</p>
    </div>
  );
}

const FIELD = /^.*(?:query parameter "search", |field "filter\.search": at )/;

/** Where and why the API rejects the search; undefined: it accepts the search. */
export function refusalOf(error: Error | null | undefined): { at: number; message: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { field } = error.details;
  if (field !== 'search' && field !== 'filter.search') return undefined;
  const [, character = 1] = /character (\d+)/.exec(error.message) ?? [];
  return { at: Number(character) - 1, message: error.message.replace(FIELD, '') };
}
