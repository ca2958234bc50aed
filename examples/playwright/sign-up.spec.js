// Sign-up, from the form over the email to being signed in. Each test has a recipient of its own,
// so they run side by side.
import { randomUUID } from 'node:crypto';
import { test as base, expect } from '@playwright/test';
import { mailboxFixtures } from 'sandmartin/testing';

const test = base.extend(mailboxFixtures);
const somebody = () => `${randomUUID()}@people.example`;

async function askForCode(page, email) {
  await page.goto(process.env.APP_URL);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Sign up' }).click();
}

async function enter(page, code) {
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('the code from the email signs in', async ({ page, mailbox }) => {
  const email = somebody();
  await askForCode(page, email);
  const { codes, from } = await mailbox.waitForEmail({ to: email, subject: 'code' });
  expect(from).toBe('Acme <hello@acme.example>');
  await enter(page, codes[0]);
  await expect(page.getByText(`Signed in as ${email}`)).toBeVisible();
});

test('the second email has the code that counts', async ({ page, mailbox }) => {
  const email = somebody();
  await askForCode(page, email);
  const first = await mailbox.waitForEmail({ to: email });
  await askForCode(page, email);
  const second = await mailbox.waitForEmail({ to: email });
  expect(second.id).not.toBe(first.id);
  await enter(page, second.codes[0]);
  await expect(page.getByText('Signed in')).toBeVisible();
});

test('a wrong code does not', async ({ page }) => {
  await askForCode(page, somebody());
  await enter(page, 'nonsense');
  await expect(page.getByText('That code is wrong.')).toBeVisible();
});
