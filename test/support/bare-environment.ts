import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * What a process of ours is started with beside its own variables: not the environment of the tests, of which vitest and
 * developers set parts. The code that one start has compiled is kept for the next: nothing of how it works, but a third of
 * what a start costs.
 */
export const bareEnvironment = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: join(tmpdir(), 'quartermaster-compile-cache'),
} as const
