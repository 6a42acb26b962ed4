import { Page } from '../../ui/page.tsx';

export default function FunctionsListPage() {
  return <Page title="functions">{null}</Page>;
}
