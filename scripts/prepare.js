// Run by `npm ci` and `npm install`: builds dist/. Without the development dependencies (`--omit=dev`, NODE_ENV=production)
// nothing can be built, and nothing has to be where dist/ came along; bin/sandmartin.js says so where it did not.
import { createRequire } from 'node:module';

const canBuild = () => {
  try {
    return createRequire(import.meta.url).resolve('vite/package.json') !== '';
  } catch {
    return false;
  }
};
if (canBuild()) await import('./build.js');
