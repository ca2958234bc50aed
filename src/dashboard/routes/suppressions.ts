// Suppressions: addresses the account does not write to any more.
import { z } from 'zod';
import {
  addSuppression,
  listSuppressions,
  removeSuppression,
} from '../../suppressions/suppressions.ts';
import { PAGE_SIZE, pageQuery, type Works } from '../route.ts';

export const suppressionRoutes: Works<'listSuppressions' | 'addSuppression' | 'removeSuppression'> =
  {
    listSuppressions: {
      query: z.strictObject({ search: z.string().trim().max(320).optional(), ...pageQuery }),
      async run({ database }, { accountId, query }) {
        const limit = query.limit ?? PAGE_SIZE;
        const items = await listSuppressions(database, accountId, {
          search: query.search || undefined,
          after: query.before,
          limit,
        });
        return { items, next: items.length === limit ? (items.at(-1)?.address ?? null) : null };
      },
    },

    addSuppression: {
      body: z.strictObject({ address: z.string().max(320) }),
      run: ({ database }, { accountId, body }) => addSuppression(database, accountId, body.address),
    },

    removeSuppression: {
      async run({ database }, { accountId, params }) {
        await removeSuppression(database, accountId, params.address);
        return {};
      },
    },
  };
