// Second factors and sessions of the signed-in person: shown, added, removed, and required by an
// account. Changing how a person signs in needs a password or passkey given a few minutes ago.
import { z } from 'zod';
import { writeAudit } from '../../audit/audit.ts';
import { Problem } from '../../errors.ts';
import { confirmApp, removeApp, startApp } from '../../people/authenticator-app.ts';
import { makeChallenge } from '../../people/challenges.ts';
import {
  type FactorChange,
  factorsOf,
  factorWasAdded,
  factorWasRemoved,
  hasFactor,
  requireFactor,
} from '../../people/factors.ts';
import {
  addPasskey,
  handleOf,
  listPasskeys,
  removePasskey,
  takePasskey,
  toAdd,
  toProve,
} from '../../people/passkeys.ts';
import { makeRecoveryCodes } from '../../people/recovery-codes.ts';
import { endOwnSession, listSessions, proveSession, type Session } from '../../people/sessions.ts';
import { countTry, forgiveTry } from '../../people/sign-in-throttle.ts';
import { appLink, base32 } from '../../people/totp.ts';
import { checkCredentials } from '../../people/users.ts';
import { ALGORITHMS, relyingParty } from '../../people/webauthn.ts';
import { qrPng } from '../../templates/qr-codes.ts';
import type { DashboardDeps } from '../deps.ts';
import { toMe } from '../me.ts';
import type { Call, Works } from '../route.ts';
import { passkeyAssertion } from './passkey-assertion.ts';
import { tryOf } from './sign-in-try.ts';

type Names =
  | 'listSessions'
  | 'endOwnSession'
  | 'prove'
  | 'askProof'
  | 'getFactors'
  | 'startApp'
  | 'confirmApp'
  | 'removeApp'
  | 'startPasskey'
  | 'addPasskey'
  | 'removePasskey'
  | 'makeRecoveryCodes'
  | 'requireFactor';

export const factorRoutes: Works<Names> = {
  listSessions: {
    async run({ database }, { session }) {
      const sessions = await listSessions(database, session.user.id);
      return { sessions: sessions.map((one) => ({ ...one, current: one.id === session.id })) };
    },
  },

  endOwnSession: {
    async run({ database }, { session, params }) {
      await endOwnSession(database, session.user.id, params.id);
      return {};
    },
  },

  prove: {
    body: z.union([
      z.strictObject({ password: z.string().max(1000) }),
      z.strictObject({ passkey: passkeyAssertion }),
    ]),
    async run(deps, { session, body, request }) {
      const { user } = session;
      const attempt = { ...tryOf(deps, { request }), email: user.email };
      await countTry(deps.database, attempt);
      const right =
        'password' in body
          ? (await checkCredentials(deps.database, user.email, body.password)) !== undefined
          : await isOwnPasskey(deps, user.id, body.passkey);
      if (!right) {
        throw new Problem('forbidden', 'password: this is not your password.', { at: 'password' });
      }
      await forgiveTry(deps.database, attempt);
      await proveSession(deps.database, session);
      return {};
    },
  },

  askProof: {
    run: async (deps, { session }) => optionsFor(deps, toProve(session.user.id)),
  },

  getFactors: {
    async run({ database }, { session }) {
      const { app, recoveryCodes } = await factorsOf(database, session.user.id);
      const passkeys = await listPasskeys(database, session.user.id);
      return { app, passkeys, recoveryCodes, fresh: session.fresh };
    },
  },

  startApp: {
    async run(deps, { session }) {
      requireFresh(session);
      const secret = await startApp(deps, session.user);
      const link = appLink(secret, session.user.email, new URL(deps.baseUrl()).host);
      const qr = `data:image/png;base64,${qrPng(link).toString('base64')}`;
      return { secret: base32(secret), link, qr };
    },
  },

  confirmApp: {
    body: z.strictObject({ code: z.string().max(100) }),
    async run(deps, call) {
      requireFresh(call.session);
      const { user, id: sessionId } = call.session;
      const attempt = { ...tryOf(deps, call), email: user.email };
      await countTry(deps.database, attempt);
      const codes = await deps.database.transaction(async (client) => {
        await confirmApp(deps, client, user.id, call.body.code.replaceAll(/\s/g, ''));
        return await factorWasAdded(client, deps.clock, { ...changeBy(call, APP), sessionId });
      });
      await forgiveTry(deps.database, attempt);
      return { codes };
    },
  },

  removeApp: {
    async run(deps, call) {
      requireFresh(call.session);
      await deps.database.transaction(async (client) => {
        if (!(await removeApp(client, call.session.user.id))) return;
        await factorWasRemoved(client, deps.clock, changeBy(call, APP));
      });
      return {};
    },
  },

  startPasskey: {
    async run(deps, { session }) {
      requireFresh(session);
      const { id, email, name } = session.user;
      return {
        ...optionsFor(deps, toAdd(id)),
        user: { handle: handleOf(id), email, name },
        algorithms: Object.values(ALGORITHMS),
        known: (await listPasskeys(deps.database, id)).map((one) => one.id),
      };
    },
  },

  addPasskey: {
    body: z.strictObject({
      name: z.string().trim().min(1, 'give it a name').max(100),
      response: passkeyAssertion.omit({ signature: true }),
    }),
    async run(deps, call) {
      requireFresh(call.session);
      const { user, id: sessionId } = call.session;
      const { name, response } = call.body;
      const codes = await deps.database.transaction(async (client) => {
        const party = relyingParty(deps.baseUrl());
        await addPasskey(deps, client, party, { userId: user.id, name, response });
        const change = { ...changeBy(call, `passkey “${name}”`), sessionId };
        return await factorWasAdded(client, deps.clock, change);
      });
      return { codes };
    },
  },

  removePasskey: {
    async run(deps, call) {
      requireFresh(call.session);
      await deps.database.transaction(async (client) => {
        const name = await removePasskey(client, call.session.user.id, call.params.id);
        await factorWasRemoved(client, deps.clock, changeBy(call, `passkey “${name}”`));
      });
      return {};
    },
  },

  makeRecoveryCodes: {
    async run(deps, { session }) {
      requireFresh(session);
      const { id } = session.user;
      if (!hasFactor(await factorsOf(deps.database, id))) {
        throw new Problem('invalid', 'Recovery codes come with the first second factor.');
      }
      const codes = await deps.database.transaction((client) => makeRecoveryCodes(client, id));
      return { codes };
    },
  },

  requireFactor: {
    body: z.strictObject({ required: z.boolean() }),
    async run(deps, call) {
      const { session, accountId, body, request } = call;
      requireFresh(session);
      if (!session.secondFactor) {
        throw new Problem(
          'forbidden',
          'Add a second factor of your own first, under Profile: without one you would be locked out as well.',
        );
      }
      await deps.database.transaction(async (client) => {
        await requireFactor(client, accountId, body.required);
        await writeAudit(client, deps.clock, {
          ...{ accountId, actor: actorOf(session), door: 'dashboard', requestId: request.id },
          action: 'require_second_factor',
          changes: [{ target: 'account', after: { second_factor_required: body.required } }],
        });
      });
      const account = session.account && {
        ...session.account,
        secondFactorRequired: body.required,
      };
      return await toMe(deps, { ...session, account });
    },
  },
};

const APP = 'authenticator app';

const optionsFor = (deps: DashboardDeps, purpose: string) => ({
  challenge: makeChallenge(deps, purpose),
  host: relyingParty(deps.baseUrl()).id,
});

const isOwnPasskey = (
  deps: DashboardDeps,
  userId: string,
  assertion: z.output<typeof passkeyAssertion>,
): Promise<boolean> =>
  deps.database.transaction(async (client) => {
    const wish = { purpose: toProve(userId), assertion };
    const used = await takePasskey(deps, client, relyingParty(deps.baseUrl()), wish);
    return used.userId === userId;
  });

/** Whoever finds an unlocked browser must not be able to take over the account. */
function requireFresh({ fresh }: Session): void {
  if (fresh) return;
  throw new Problem(
    'forbidden',
    'First confirm who you are, with your password or a passkey. That is valid for ten minutes.',
  );
}

const actorOf = ({ user }: Session) =>
  ({ kind: 'person', id: user.id, email: user.email }) as const;

const changeBy = (
  { session, request }: Pick<Call<'removeApp'>, 'session' | 'request'>,
  factor: string,
): FactorChange => ({
  ...{ user: session.user, factor, actor: actorOf(session) },
  ...{ door: 'dashboard', requestId: request.id },
});
