// The dashboard's entry point: styles, theme, queries and the router. Loaded by index.html;
// router.tsx loads the pages.
import './mantine.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient, SESSION_KEY } from './api.ts';
import { styleNonce } from './nonce.ts';
import { createDashboardRouter } from './router.tsx';
import { theme, variables } from './theme.ts';

// Dialogs stop the page from scrolling with their own <style>, and look for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });

const nonceOfStyles = () => styleNonce;
const queries = createQueryClient();
const router = createDashboardRouter(queries);

// A session that began or ended elsewhere (a 401, a sign-in, another account): the route guards
// check again.
queries.getQueryCache().subscribe((told) => {
  const setByUs =
    told.type === 'updated' && told.action.type === 'success' && told.action.manual === true;
  if (setByUs && told.query.queryKey[0] === SESSION_KEY[0]) void router.invalidate();
});

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={nonceOfStyles}
      >
        <RouterProvider router={router} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
);
