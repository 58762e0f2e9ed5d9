import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const locked = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  link: z.boolean().optional(),
  os: z.union([z.string(), z.array(z.string())]).optional(),
  cpu: z.union([z.string(), z.array(z.string())]).optional(),
  bin: z.record(z.string(), z.string()).optional(),
  optional: z.boolean().optional(),
  dev: z.boolean().optional(),
})
export interface LockedPackage extends z.output<typeof locked> {
  /** The name, such as `@scarf/scarf`, at any depth of node_modules. */
  readonly name: string
  readonly folder: string
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** Returns every package that `npm ci` can install, on any platform. */
export function lockedPackages(): LockedPackage[] {
  const { packages } = z.object({ packages: z.record(z.string(), locked) }).parse(read('package-lock.json'))
  return Object.entries(packages).flatMap(([folder, entry]) =>
    folder === '' ? [] : [{ ...entry, folder, name: folder.slice(folder.lastIndexOf('node_modules/') + 13) }],
  )
}

/** Returns a package's licence: from the lock file, or from its own package.json, also in older formats. */
export function licenceOf({ folder, license }: LockedPackage): string | undefined {
  if (license !== undefined || !existsSync(`${folder}/package.json`)) return license
  const form = z.object({
    license: z.string().optional(),
    licenses: z.array(z.object({ type: z.string() })).optional(),
  })
  const own = form.parse(read(`${folder}/package.json`))
  return own.license ?? own.licenses?.map(({ type }) => type).join(' OR ')
}
