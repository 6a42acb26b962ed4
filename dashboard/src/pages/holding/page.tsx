import { Page } from '../../ui/page.tsx';

export default function HoldingPage() {
  return <Page title="holding">{null}</Page>;
}
