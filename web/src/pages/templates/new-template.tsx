// Dialogs that create a template of the account's own: an empty one, or a clone.
import { Select, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { OwnTemplate } from '../../../../src/client/operations.ts';
import { type Category, categories } from '../../../../src/templates/categories.ts';
import { useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { templateReads } from './reads.ts';

interface DialogProps {
  opened: boolean;
  onClose: () => void;
}

/** Written like those of the catalogue, so that it looks like them. */
const starter = `{% extends "layout.html" %}
{% import "macros.html" as ui with context %}

{% block content %}
{{ ui.heading('Hello ' ~ name) }}
{% call ui.p() %}What do you want to say?{% endcall %}
{% endblock %}
`;

export function NewTemplateDialog({ opened, onClose }: DialogProps) {
  const navigate = useNavigate();
  const [category, setCategory] = useState<Category>('notifications');
  const save = useChange('templates.put', {
    changes: templateReads,
    onDone: ({ slug }) => void navigate({ to: '/templates/$slug/edit', params: { slug } }),
  });
  return (
    <Dialog opened={opened} onClose={onClose} title="New template">
      <ActionForm
        action={save}
        act="Create"
        onSend={(field) => {
          const name = field('name').trim();
          save.mutate({
            slug: field('slug').trim(),
            name,
            category,
            subject: name,
            html: starter,
            variables: [{ name: 'name', required: true, description: 'Name of the recipient.' }],
            sample: { name: 'Ada' },
            // A template that someone else created with this slug must not be overwritten unseen.
            base_version: 0,
          });
        }}
      >
        <TextInput label="Name" name="name" required withAsterisk={false} data-autofocus />
        <TextInput
          label="Slug"
          name="slug"
          description="What a send names, such as monthly-report"
          pattern="[a-z0-9]+(?:-[a-z0-9]+)*"
          required
          withAsterisk={false}
        />
        <Select
          label="Category"
          data={categories.map((value) => ({ value, label: capital(value) }))}
          value={category}
          onChange={(value) => setCategory(value as Category)}
        />
      </ActionForm>
    </Dialog>
  );
}

export function CloneDialog({
  template,
  opened,
  onClose,
}: DialogProps & { template: OwnTemplate }) {
  const navigate = useNavigate();
  const clone = useChange('templates.clone', {
    changes: templateReads,
    onDone: ({ slug }) => {
      tellDone('Cloned. It is yours to change.');
      void navigate({ to: '/templates/$slug/edit', params: { slug } });
    },
  });
  return (
    <Dialog opened={opened} onClose={onClose} title={`Clone ${template.name}`}>
      <ActionForm
        action={clone}
        act="Clone"
        onSend={(field) => {
          const as = field('as').trim();
          clone.mutate({ slug: template.slug, as: as || undefined });
        }}
      >
        <TextInput
          label="Slug of your copy"
          name="as"
          defaultValue={template.slug}
          description={
            template.state === 'system'
              ? 'With the same slug, your copy replaces the system template in every send once it is published'
              : 'Its own slug'
          }
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Dialog>
  );
}
