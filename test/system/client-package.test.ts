import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newHome, signIn } from '../support/command-line.ts'
import { withService } from '../support/service.ts'

const run = promisify(execFile)
/**
 * The environment of a user without a clone of this repository: their PATH lacks the entries of npm and of our own
 * Node.
 */
const foreignPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

describe('the client package', () => {
  const service = withService()
  const folder = mkdtempSync(join(tmpdir(), 'package-'))
  const app = join(folder, 'app')
  const env = { ...process.env, PATH: foreignPath }
  let listed: string[] = []
  beforeAll(async () => {
    // Builds in a copy, so that the output does not disturb other tests.
    const clone = join(folder, 'clone')
    mkdirSync(join(clone, 'src'), { recursive: true })
    for (const path of ['.npmrc', 'package.json', 'tsconfig.json', 'LICENSE', 'src/core', 'src/client'])
      cpSync(path, join(clone, path), { recursive: true, filter: (from) => !from.includes('client/dist') })
    symlinkSync(resolve('node_modules'), join(clone, 'node_modules'))
    const path = [resolve('node_modules/.bin'), foreignPath].join(delimiter)
    const words = ['run', 'package:client', '--', '--json', '--pack-destination', folder]
    const packed = await run('npm', words, { cwd: clone, env: { ...process.env, PATH: path } })
    listed = (await run('tar', ['-tzf', join(folder, tarballIn(folder))])).stdout.trim().split('\n')
    expect(packed.stdout).toContain('quartermaster')
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"type": "module"}')
    const tarball = join(folder, tarballIn(folder))
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: app, env })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('contains JavaScript and declarations of the client, and only declarations of the core', () => {
    const inside = listed.map((path) => path.replace(/^package\//, ''))
    expect(inside).toEqual(expect.arrayContaining(['dist/client/index.js', 'dist/client/index.d.ts', 'README.md']))
    const strange = inside.filter(
      (path) =>
        !/^(package\.json|README\.md|LICENSE|dist\/LICENSE|dist\/client\/.+\.(js|d\.ts|json)|dist\/core\/.+\.d\.ts)$/.test(
          path,
        ),
    )
    expect(strange).toEqual([])
  })

  it('contains its own libraries and nothing of the server', () => {
    const manifest = JSON.parse(readFileSync('src/client/package.json', 'utf8'))
    const root = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(Object.keys(manifest.dependencies)).toEqual([
      ...['@azure/msal-node', '@inquirer/input', '@inquirer/rawlist', 'commander', 'csv-parse', 'csv-stringify'],
      ...['fastest-levenshtein', 'standardwebhooks', 'zod'],
    ])
    for (const [name, wanted] of Object.entries(manifest.dependencies)) expect(root.dependencies[name]).toBe(wanted)
    const installed = readdirSync(join(app, 'node_modules'))
    expect(installed.filter((name) => /^(botbuilder|restify|pg|pg-boss|@electric-sql|node|pino)/.test(name))).toEqual(
      [],
    )
  })

  it('can be imported by plain Node, without a warning', async () => {
    const text = `import { createClient, ProblemError } from 'quartermaster'
      import { createSignIn } from 'quartermaster/sign-in'
      const client = createClient({ baseUrl: '${service.app.url}', token: async () => 'no-token', retries: 0 })
      const error = await client.templates().catch((one) => one)
      console.log(error instanceof ProblemError, error.code, typeof createSignIn)`
    writeFileSync(join(app, 'try.mjs'), text)
    const { stdout, stderr } = await run('node', ['try.mjs'], { cwd: app, env })
    expect([stdout, stderr]).toEqual(['true invalid-token function\n', ''])
  })

  it('has types for TypeScript', async () => {
    const text = `import { createClient, type ProvisioningRequest } from 'quartermaster'
      const client = createClient({ baseUrl: 'https://a.example', token: async () => 'token' })
      export const request: Promise<ProvisioningRequest> = client.getRequest('6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11')
      // @ts-expect-error: a site has a name
      client.createSite({ templateId: 'x' })`
    writeFileSync(join(app, 'try.ts'), text)
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck', 'try.ts']
    const { stdout } = await run(resolve('node_modules/.bin/tsc'), flags, { cwd: app })
    expect(stdout).toBe('')
  })

  it('contains a command that works with a running service', async () => {
    const home = newHome()
    await signIn(home, service.app.url, 'kim')
    const quartermaster = (...args: string[]) =>
      run('npx', ['--no-install', 'quartermaster', ...args], {
        cwd: app,
        env: { ...env, QUARTERMASTER_HOME: home },
      })
    const made = await quartermaster('site', 'create', '--template', 'Working group', '--display-name', 'Aurora', '-w')
    expect(made.stdout).toMatch(/Created at http:.*\/sites\/wg-aurora/)
    expect((await quartermaster('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const refused = await quartermaster('request', 'show', 'REQ-1').catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('You cannot see a request REQ-1') })
  })

  it('runs no script during installation, and everybody can read its files', async () => {
    const { scripts } = JSON.parse(readFileSync(join(app, 'node_modules/quartermaster/package.json'), 'utf8'))
    expect(Object.keys(scripts)).toEqual(['prepack'])
    const { stdout } = await run('tar', ['-tvzf', join(folder, tarballIn(folder))])
    expect(stdout.split('\n').filter((line) => line !== '' && !/^-r..r..r/.test(line))).toEqual([])
  })
})

const tarballIn = (folder: string): string => readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
