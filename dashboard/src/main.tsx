import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import './app/theme.css';
import { applyTheme } from './lib/theme.ts';
import { copyAbsoluteTimes } from './ui/copied-times.ts';

applyTheme();
document.addEventListener('copy', copyAbsoluteTimes);
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
