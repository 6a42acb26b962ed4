import { Page } from '../../ui/page.tsx';

export default function KeysPage() {
  return <Page title="keys">{null}</Page>;
}
