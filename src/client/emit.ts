import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The first step of `npm run package:client`: writes JavaScript and declarations to `dist/`, because Node strips no types
 * below node_modules. The client uses only types of the core, so the core's JavaScript is removed: an accidental import
 * of it fails the test of the package.
 */
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
rmSync(here('dist'), { recursive: true, force: true })
const { status, error } = spawnSync('tsc', ['-p', here('tsconfig.json')], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
if (status !== 0) throw error ?? new Error(`tsc ended with ${status}.`)
for (const path of globSync(here('dist/core/**/*.js'))) rmSync(path)
chmodSync(here('dist/client/cli.js'), 0o755)
copyFileSync(here('../../LICENSE'), here('dist/LICENSE'))
