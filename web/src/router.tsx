// The table of pages. Each is a chunk of its own, fetched when it is first shown (or hovered).
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { Input } from './operations.ts';
import { NotFound, PageFault } from './parts/fault.tsx';
import { sessionQuery } from './session.ts';
import { Shell } from './shell/shell.tsx';

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet });

/** Signed-in pages: whoever is not goes to the door first, and comes back afterwards. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const { state, me } = await context.queries.ensureQueryData(sessionQuery);
    if (state === 'set-up') throw redirect({ to: '/setup' });
    if (state === 'signed-out') {
      throw redirect({ to: '/sign-in', search: { back: location.href } });
    }
    // An operator who belongs to no account has one page.
    if (me?.account === null && !/^\/(operator|profile)/.test(location.pathname)) {
      throw redirect({ to: '/operator' });
    }
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { back?: string } =>
    typeof search.back === 'string' ? { back: search.back } : {},
  beforeLoad: async ({ context, search }) => {
    const { state } = await context.queries.ensureQueryData(sessionQuery);
    if (state === 'set-up') throw redirect({ to: '/setup' });
    // Only a path of ours: `//elsewhere` would be another site.
    const back = /^\/(?![/\\])/.test(search.back ?? '') ? search.back : '/';
    if (state === 'signed-in') throw redirect({ href: back ?? '/' });
  },
  component: lazyRouteComponent(() => import('./pages/entrance/sign-in.tsx'), 'SignInPage'),
});

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  beforeLoad: async ({ context }) => {
    const { state } = await context.queries.ensureQueryData(sessionQuery);
    if (state !== 'set-up') throw redirect({ to: '/' });
  },
  component: lazyRouteComponent(() => import('./pages/entrance/set-up.tsx'), 'SetUpPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/entrance/invitation.tsx'), 'InvitationPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(
    () => import('./pages/entrance/forgot-password.tsx'),
    'ForgotPasswordPage',
  ),
});

const newPassword = createRoute({
  getParentRoute: () => root,
  path: '/new-password',
  component: lazyRouteComponent(
    () => import('./pages/entrance/new-password.tsx'),
    'NewPasswordPage',
  ),
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'OverviewPage'),
});

const filters = ['recipient', 'subject', 'template', 'tag', 'status', 'id'] as const;
/** What of a search stands in the page's address; `from` and `until` are times, ISO 8601. */
export type MessagesSearch = Pick<NonNullable<Input<'messages.list'>>, (typeof filters)[number]> & {
  from?: string;
  until?: string;
};
const searchFields = [...filters, 'from', 'until'] as const;

const messages = createRoute({
  getParentRoute: () => inside,
  path: '/messages',
  validateSearch: (search): MessagesSearch =>
    Object.fromEntries(
      searchFields
        .filter((field) => search[field] !== undefined && search[field] !== '')
        .map((field) => [field, String(search[field])]),
    ),
  component: lazyRouteComponent(() => import('./pages/messages/messages.tsx'), 'MessagesPage'),
});

const message = createRoute({
  getParentRoute: () => inside,
  path: '/messages/$id',
  component: lazyRouteComponent(() => import('./pages/messages/message.tsx'), 'MessagePage'),
});

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  component: lazyRouteComponent(() => import('./pages/templates/gallery.tsx'), 'TemplatesPage'),
});

const template = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$slug',
  component: lazyRouteComponent(() => import('./pages/templates/template.tsx'), 'TemplatePage'),
});

const templateEditor = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$slug/edit',
  component: lazyRouteComponent(() => import('./pages/templates/editor.tsx'), 'EditorPage'),
});

const branding = createRoute({
  getParentRoute: () => inside,
  path: '/branding',
  component: lazyRouteComponent(() => import('./pages/branding/branding.tsx'), 'BrandingPage'),
});

const senders = createRoute({
  getParentRoute: () => inside,
  path: '/senders',
  component: lazyRouteComponent(() => import('./pages/senders/senders.tsx'), 'SendersPage'),
});

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$id',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
});

const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
});

const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
});

const suppressions = createRoute({
  getParentRoute: () => inside,
  path: '/suppressions',
  component: lazyRouteComponent(
    () => import('./pages/suppressions/suppressions.tsx'),
    'SuppressionsPage',
  ),
});

const sandbox = createRoute({
  getParentRoute: () => inside,
  path: '/sandbox',
  component: lazyRouteComponent(() => import('./pages/sandbox/sandbox.tsx'), 'SandboxPage'),
});

const sandboxMail = createRoute({
  getParentRoute: () => inside,
  path: '/sandbox/$id',
  component: lazyRouteComponent(() => import('./pages/sandbox/mail.tsx'), 'SandboxMailPage'),
});

const team = createRoute({
  getParentRoute: () => inside,
  path: '/team',
  component: lazyRouteComponent(() => import('./pages/team/team.tsx'), 'TeamPage'),
});

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'AccountPage'),
});

const profile = createRoute({
  getParentRoute: () => inside,
  path: '/profile',
  component: lazyRouteComponent(() => import('./pages/account/profile.tsx'), 'ProfilePage'),
});

const operator = createRoute({
  getParentRoute: () => inside,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator/operator.tsx'), 'OperatorPage'),
});

const tree = root.addChildren([
  signIn,
  setUp,
  invitation,
  forgotPassword,
  newPassword,
  inside.addChildren([
    overview,
    messages,
    message,
    templates,
    template,
    templateEditor,
    branding,
    senders,
    webhooks,
    webhook,
    keys,
    suppressions,
    audit,
    sandbox,
    sandboxMail,
    team,
    account,
    profile,
    operator,
  ]),
]);

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: PageFault,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
