// The table of pages. Each is a chunk of its own, fetched together with its first data when the
// page is shown, or earlier: when its link is hovered, focused or chosen in the palette.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { type Category, categories } from '../../src/templates/categories.ts';
import { LANGUAGES } from '../../src/templates/languages.ts';
import { answerOf } from './api.ts';
import { readAhead, rowsAhead } from './operations.ts';
import { openApiQuery } from './pages/connect/openapi-query.ts';
import { NotFound, PageFault } from './parts/fault.tsx';
import { sessionQuery } from './session.ts';

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet });

/**
 * Signed-in pages: whoever is not signed in goes to the sign-in page first, and comes back
 * afterwards.
 */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
  // Which dialog of the page is open (parts/dialog-in-address.ts).
  validateSearch: ({ dialog }): { dialog?: string | undefined } =>
    typeof dialog === 'string' ? { dialog } : {},
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
    if (me?.locked && location.pathname !== '/profile') throw redirect({ to: '/profile' });
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

/** The open tab of a page is in its address. */
const tabSearch = (search: Record<string, unknown>): { tab?: string } =>
  typeof search.tab === 'string' ? { tab: search.tab } : {};

/** The search of a list is there too. */
const textSearch = ({ q }: Record<string, unknown>): { q?: string } =>
  q === undefined || q === '' ? {} : { q: String(q) };

const dimensions = ['template', 'tag', 'stream', 'domain', 'relay'] as const;

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: (search): { days?: number; by?: (typeof dimensions)[number] } => ({
    ...([1, 7, 30, 90].includes(Number(search.days)) && { days: Number(search.days) }),
    ...(dimensions.find((it) => it === search.by) && {
      by: search.by as (typeof dimensions)[number],
    }),
  }),
  loaderDeps: ({ search: { days = 7, by = 'template' } }) => ({ days, by }),
  loader: ({ context: { queries }, deps }) => {
    readAhead(queries, 'usage.get', {});
    readAhead(queries, 'usage.listAlerts', {});
    readAhead(queries, 'usage.analytics', deps);
  },
  component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'OverviewPage'),
});

/** Fields that links to a search may name separately. */
const parts = ['to', 'from', 'subject', 'template', 'tag', 'stream', 'status', 'id'] as const;
export type MessagesSearch = { q?: string } & Partial<Record<(typeof parts)[number], string>>;

const messages = createRoute({
  getParentRoute: () => inside,
  path: '/messages',
  validateSearch: (search): MessagesSearch => {
    const said = parts
      .filter((part) => search[part] !== undefined && search[part] !== '')
      .map(
        (part) => `${part}:${/\s/.test(String(search[part])) ? `"${search[part]}"` : search[part]}`,
      );
    const q = [...(search.q === undefined ? [] : [String(search.q)]), ...said].join(' ');
    return q === '' ? {} : { q };
  },
  loaderDeps: ({ search: { q } }) => ({ q }),
  // Only the page itself can parse a search.
  loader: ({ context: { queries }, deps: { q } }) => {
    if (q === undefined) rowsAhead(queries, 'messages.list', { limit: 50 });
  },
  component: lazyRouteComponent(() => import('./pages/messages/messages.tsx'), 'MessagesPage'),
});

const message = createRoute({
  getParentRoute: () => inside,
  path: '/messages/$id',
  // The last two are about its recipients.
  validateSearch: (search): { tab?: string; state?: string; q?: string } => ({
    ...tabSearch(search),
    ...(typeof search.state === 'string' && { state: search.state }),
    ...textSearch(search),
  }),
  loader: ({ context: { queries }, params, cause }) => {
    const which = { sm_mail_id: params.id };
    readAhead(queries, 'messages.details', which);
    readAhead(queries, 'messages.listAttempts', which);
    readAhead(queries, 'messages.listWebhooks', which);
    // Pointing at its row must not fetch megabytes.
    if (cause !== 'preload') readAhead(queries, 'messages.content', which);
  },
  component: lazyRouteComponent(() => import('./pages/messages/message.tsx'), 'MessagePage'),
});

const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  loader: ({ context: { queries } }) => rowsAhead(queries, 'approvals.list', {}),
  component: lazyRouteComponent(() => import('./pages/approvals/approvals.tsx'), 'ApprovalsPage'),
});

const approval = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/$id',
  loader: ({ context: { queries }, params }) =>
    readAhead(queries, 'approvals.get', { sm_mail_id: params.id }),
  component: lazyRouteComponent(() => import('./pages/approvals/approval.tsx'), 'ApprovalPage'),
});

export type TemplatesShown = 'all' | 'own' | Category;

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  validateSearch: (search): { q?: string; show?: TemplatesShown; locale?: string } => {
    const show = (['own', ...categories] as const).find((it) => it === search.show);
    const locale = LANGUAGES.find((it) => it === search.locale);
    return { ...textSearch(search), ...(show && { show }), ...(locale && { locale }) };
  },
  loader: ({ context: { queries } }) => {
    readAhead(queries, 'templates.list', {});
    readAhead(queries, 'templates.listOwn', {});
  },
  component: lazyRouteComponent(() => import('./pages/templates/gallery.tsx'), 'TemplatesPage'),
});

const template = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$slug',
  validateSearch: tabSearch,
  loader: ({ context: { queries }, params: { slug } }) => {
    readAhead(queries, 'templates.getVersion', { slug, version: 'current' });
    readAhead(queries, 'templates.render', { slug });
  },
  component: lazyRouteComponent(() => import('./pages/templates/template.tsx'), 'TemplatePage'),
});

const templateEditor = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$slug/edit',
  validateSearch: tabSearch,
  loader: ({ context: { queries }, params }) =>
    readAhead(queries, 'templates.getVersion', { slug: params.slug, version: 'newest' }),
  component: lazyRouteComponent(() => import('./pages/templates/editor.tsx'), 'EditorPage'),
});

const branding = createRoute({
  getParentRoute: () => inside,
  path: '/branding',
  loader: ({ context: { queries } }) => {
    readAhead(queries, 'branding.get', {});
    readAhead(queries, 'templates.list', {});
  },
  component: lazyRouteComponent(() => import('./pages/branding/branding.tsx'), 'BrandingPage'),
});

const senders = createRoute({
  getParentRoute: () => inside,
  path: '/senders',
  loader: ({ context: { queries } }) => {
    rowsAhead(queries, 'domains.list', {});
    rowsAhead(queries, 'addresses.list', {});
  },
  component: lazyRouteComponent(() => import('./pages/senders/senders.tsx'), 'SendersPage'),
});

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  loader: ({ context: { queries } }) => readAhead(queries, 'webhooks.list', {}),
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$id',
  validateSearch: (search): { state?: string; delivery?: string } => ({
    ...(typeof search.state === 'string' && { state: search.state }),
    ...(typeof search.delivery === 'string' && { delivery: search.delivery }),
  }),
  loader: ({ context: { queries }, params: { id } }) => {
    readAhead(queries, 'webhooks.get', { id });
    rowsAhead(queries, 'webhooks.listDeliveries', { id });
  },
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
});

const connect = createRoute({
  getParentRoute: () => inside,
  path: '/connect',
  validateSearch: (search): { agent?: string; program?: string } => ({
    ...(typeof search.agent === 'string' && { agent: search.agent }),
    ...(typeof search.program === 'string' && { program: search.program }),
  }),
  loader: ({ context: { queries } }) => {
    readAhead(queries, 'usage.get', {});
    rowsAhead(queries, 'keys.list', {});
  },
  component: lazyRouteComponent(() => import('./pages/connect/connect.tsx'), 'ConnectPage'),
});

const reference = createRoute({
  getParentRoute: () => inside,
  path: '/connect/reference',
  validateSearch: textSearch,
  loader: ({ context: { queries } }) => void queries.prefetchQuery(openApiQuery),
  component: lazyRouteComponent(() => import('./pages/connect/reference.tsx'), 'ReferencePage'),
});

const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  validateSearch: ({ revoked }): { revoked?: true } => (revoked === true ? { revoked } : {}),
  loader: ({ context: { queries } }) => rowsAhead(queries, 'keys.list', {}),
  component: lazyRouteComponent(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
});

const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: textSearch,
  loaderDeps: ({ search: { q = '' } }) => ({ q }),
  loader: ({ context: { queries }, deps: { q } }) =>
    rowsAhead(queries, 'audit.list', { target: q, limit: 50 }),
  component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
});

const streams = createRoute({
  getParentRoute: () => inside,
  path: '/streams',
  loader: ({ context: { queries } }) => rowsAhead(queries, 'streams.list', {}),
  component: lazyRouteComponent(() => import('./pages/streams/streams.tsx'), 'StreamsPage'),
});

const suppressions = createRoute({
  getParentRoute: () => inside,
  path: '/suppressions',
  validateSearch: textSearch,
  loaderDeps: ({ search: { q = '' } }) => ({ q }),
  loader: ({ context: { queries }, deps: { q } }) =>
    rowsAhead(queries, 'suppressions.list', { search: q }),
  component: lazyRouteComponent(
    () => import('./pages/suppressions/suppressions.tsx'),
    'SuppressionsPage',
  ),
});

const sandbox = createRoute({
  getParentRoute: () => inside,
  path: '/sandbox',
  loader: ({ context: { queries } }) => rowsAhead(queries, 'sandbox.list', { limit: 50 }),
  component: lazyRouteComponent(() => import('./pages/sandbox/sandbox.tsx'), 'SandboxPage'),
});

const sandboxEmail = createRoute({
  getParentRoute: () => inside,
  path: '/sandbox/$id',
  validateSearch: tabSearch,
  loader: ({ context: { queries }, params }) =>
    readAhead(queries, 'sandbox.get', { id: params.id }),
  component: lazyRouteComponent(
    () => import('./pages/sandbox/captured-email.tsx'),
    'SandboxEmailPage',
  ),
});

const team = createRoute({
  getParentRoute: () => inside,
  path: '/team',
  loader: ({ context: { queries } }) => {
    readAhead(queries, 'team.list', {});
    readAhead(queries, 'team.listInvitations', {});
  },
  component: lazyRouteComponent(() => import('./pages/team/team.tsx'), 'TeamPage'),
});

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  loader: ({ context: { queries } }) => readAhead(queries, 'account.get', {}),
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'AccountPage'),
});

const profile = createRoute({
  getParentRoute: () => inside,
  path: '/profile',
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(answerOf('getFactors'));
    void queries.prefetchQuery(answerOf('listSessions'));
  },
  component: lazyRouteComponent(() => import('./pages/profile/profile.tsx'), 'ProfilePage'),
});

const operator = createRoute({
  getParentRoute: () => inside,
  path: '/operator',
  loader: ({ context: { queries } }) => rowsAhead(queries, 'accounts.list', { limit: 100 }),
  component: lazyRouteComponent(() => import('./pages/operator/operator.tsx'), 'OperatorPage'),
});

const relays = createRoute({
  getParentRoute: () => inside,
  path: '/operator/relays',
  loader: ({ context: { queries } }) => rowsAhead(queries, 'relays.list', {}),
  component: lazyRouteComponent(() => import('./pages/operator/relays.tsx'), 'RelaysPage'),
});

/** Any other path: reported where the navigation is still available. */
const nothing = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound });

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
    approvals,
    approval,
    templates,
    template,
    templateEditor,
    branding,
    senders,
    webhooks,
    webhook,
    connect,
    reference,
    keys,
    streams,
    suppressions,
    audit,
    sandbox,
    sandboxEmail,
    team,
    account,
    profile,
    operator,
    relays,
    nothing,
  ]),
]);

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: new URL(document.baseURI).pathname,
    context: { queries },
    defaultPreload: 'intent',
    // The query client decides how long an answer is valid.
    defaultPreloadStaleTime: 0,
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
