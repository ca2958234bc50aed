// Sample calls: templates.
import type { Samples } from '../samples.ts';
import type { Party, World } from '../world.ts';

/** A template of the account's own; answers its slug. */
export async function makeTemplate(world: World, whose: Party): Promise<string> {
  const slug = `own-${world.next()}`;
  await world.done('update_template', { slug, ...content(whose) }, whose);
  return slug;
}

const content = ({ mark }: Party) => ({
  name: `Ours ${mark}`,
  category: 'orders',
  subject: `Hello ${mark}`,
  html: `<p>${mark} {{ name }}</p>`,
  variables: [{ name: 'name', required: true }],
  sample: { name: mark },
});

export const samples: Samples = {
  list_templates: {
    async input(world, whose) {
      await makeTemplate(world, whose);
      return { category: 'orders' };
    },
  },
  get_template: {
    input: async (world, whose) => {
      const slug = await makeTemplate(world, whose);
      await world.done('update_template', { slug, publish: true }, whose);
      return { slug };
    },
  },
  list_own_templates: {
    async input(world, whose) {
      await makeTemplate(world, whose);
      return {};
    },
  },
  clone_template: {
    input: ({ next }) => ({ slug: 'password-reset', as: `copy-${next()}` }),
    inAnotherAccount: 'own',
  },
  update_template: {
    input: ({ next }, whose) => ({ slug: `own-${next()}`, ...content(whose) }),
    inAnotherAccount: 'own',
    refused: [{ html: '{% if %}' }],
  },
  list_template_versions: { input: own },
  get_template_version: {
    input: async (world, whose) => ({ ...(await own(world, whose)), version: 'newest' }),
    refused: [{ version: 'best' }],
  },
  publish_template: {
    input: async (world, whose) => ({ ...(await own(world, whose)), version: 1 }),
  },
  roll_back_template: {
    async input(world, whose) {
      const { slug } = await own(world, whose);
      await world.done('publish_template', { slug, version: 1 }, whose);
      await world.done('update_template', { slug, subject: 'Second', publish: true }, whose);
      return { slug };
    },
  },
  archive_template: { input: own },
  render_template: { input: own, refused: [{ draft: { html: '{% if %}' } }, { variables: {} }] },
  rehearse_template: { input: own },
  render_templates: {
    input: async (world, whose) => ({ slugs: [(await own(world, whose)).slug] }),
    inAnotherAccount: 'not-found',
  },
  send_test_email: {
    input: async (world, whose) => ({ ...(await own(world, whose)), to: 'ada@example.net' }),
    refused: [{ to: 'nobody' }],
  },
};

async function own(world: World, whose: Party): Promise<{ slug: string }> {
  return { slug: await makeTemplate(world, whose) };
}
