import { lookup } from 'node:dns/promises'
import type { ResolveHost } from '../../core/index.ts'

/** How long a name may take, in milliseconds: nobody who saves a template should wait out the resolver's own time-out. */
const patience = 5000

/** All addresses of a name as this machine knows them, its hosts file included. Rejects when there are none in time. */
export const resolveHost: ResolveHost = async (hostname) => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error(`${hostname} was not found in time`), { code: 'EAI_AGAIN' })
    timer = setTimeout(() => reject(error), patience)
  })
  try {
    const found = await Promise.race([lookup(hostname, { all: true }), tooLate])
    return found.map(({ address }) => address)
  } finally {
    clearTimeout(timer)
  }
}
