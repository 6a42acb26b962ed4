import { useState } from 'react';
import type { Provider } from '../../../api/types.ts';
import { schemeLabel, useProviders } from '../../../features/webhooks/providers.ts';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';

/** Choice of a webhook whose requests are not verified. */
export const NO_PROVIDER = 'none';

type Choice = Pick<Provider, 'id' | 'name'> & { detail: string };

/** Providers that most people come for. */
const FREQUENT = ['stripe', 'github', 'shopify', 'slack', 'twilio', 'clerk'];

const NONE: Choice = { id: NO_PROVIDER, name: 'No provider', detail: 'Requests are not verified' };

/** Search and tiles of all providers, generic providers, and no provider. */
export function ProviderPicker({ onChoose }: { onChoose(id: string): void }) {
  const providers = useProviders();
  const [search, setSearch] = useState('');
  if (providers.isPending) return <Loading />;
  if (providers.isError) return <ErrorAlert error={providers.error} onRetry={() => void providers.refetch()} />;
  const matching = (kind: Provider['kind']) =>
    providers.data
      .filter((provider) => provider.kind === kind)
      .map(choiceOf)
      .filter(matches(search));
  const [named, generic, none] = [matching('provider'), matching('generic'), [NONE].filter(matches(search))];
  const common = FREQUENT.flatMap((id) => named.filter((choice) => choice.id === id));
  const others = named.filter(({ id }) => !FREQUENT.includes(id));
  const count = named.length + generic.length + none.length;
  const [first] = [...common, ...others, ...generic, ...none];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (search.trim() !== '' && first) onChoose(first.id);
      }}
    >
      <TextField
        label="Search providers"
        type="search"
        autoFocus
        data-autofocus
        autoComplete="off"
        placeholder="Stripe, GitHub, HMAC …"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <p role="status" className={count > 0 ? 'sr-only' : 'mt-4 text-muted'}>
        {count > 0 ? `${count} matching` : 'No matching provider. Clear the search for the generic ones.'}
      </p>
      <Tiles title="Often used" choices={common} onChoose={onChoose} />
      <Tiles title="Other providers" choices={others} onChoose={onChoose} />
      <Tiles title="Any other provider" choices={[...generic, ...none]} onChoose={onChoose} />
    </form>
  );
}

function choiceOf(provider: Provider): Choice {
  const { id, name } = provider;
  return { id, name, detail: schemeLabel(provider) };
}

function matches(search: string) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ id, name, detail }: Choice) => {
    const text = `${name} ${id} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

interface TilesProps {
  title: string;
  choices: readonly Choice[];
  onChoose(id: string): void;
}

function Tiles({ title, choices, onChoose }: TilesProps) {
  if (choices.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="mt-5 mb-2 text-xs font-medium text-muted">{title}</h3>
      <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {choices.map(({ id, name, detail }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onChoose(id)}
              className="h-full w-full rounded-lg border border-line bg-surface px-3 py-2 text-left hover:border-line-strong hover:bg-sunken"
            >
              <span className="block font-medium break-words">{name}</span>
              <span className="block text-xs text-muted">{detail}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
