// npm run test:jinja: fresh random templates against Python's Jinja2. Not part of `npm test`, because every run asks
// something new and may still find a difference; what it finds becomes a case of its own.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['tests/jinja/differential.ts'], pool: 'forks', testTimeout: 900_000 },
});
