import { readFile } from 'node:fs/promises'
import type { ICachePlugin, TokenCacheContext } from '@azure/msal-node'
import { lock, writePrivately } from './private-file.ts'

/**
 * MSAL's cache in a file that only its owner can read (mode 600, in a folder of mode 700). A lock beside it makes reading,
 * changing and writing one step, so that two processes do not lose each other's sign-in; the file is replaced as a whole, so
 * that nobody ever reads half of it. What cannot be read as JSON counts as empty: people sign in once more.
 */
export function fileCache(path: string): ICachePlugin {
  const releases = new WeakMap<TokenCacheContext, () => Promise<void>>()
  return {
    async beforeCacheAccess(context) {
      releases.set(context, await lock(path))
      const text = await readJsonText(path)
      if (text !== undefined) context.tokenCache.deserialize(text)
    },
    async afterCacheAccess(context) {
      try {
        if (context.cacheHasChanged) await writePrivately(path, context.tokenCache.serialize())
      } finally {
        await releases.get(context)?.()
      }
    },
  }
}

async function readJsonText(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : undefined
  } catch {
    return undefined
  }
}
