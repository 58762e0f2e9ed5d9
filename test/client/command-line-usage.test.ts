import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, test } from 'vitest'
import { bodyOfFile, flagsOf, mailboxFlags, siteFlags } from '../../src/client/command-line/body.ts'
import { resultsPathOf, writeResults } from '../../src/client/command-line/csv.ts'
import { commandRegistry, defineCommand } from '../../src/client/command-line/define-command.ts'
import { commonOptions, version } from '../../src/client/command-line/program.ts'
import { overridesFrom, readSettings, saveSettings, settingsFolder } from '../../src/client/command-line/settings.ts'
import { watch } from '../../src/client/command-line/show.ts'
import { clean, createTerminal, exitCodes, harmlessJson, texts } from '../../src/client/command-line/terminal.ts'
import { commands } from '../../src/client/commands/index.ts'
import { createClient } from '../../src/client/index.ts'
import { mailboxRequest, siteRequest } from '../../src/core/index.ts'
import { newHome, runQuartermaster, startQuartermaster } from '../support/command-line.ts'
import { hostileServer, reply } from '../support/hostile-server.ts'
import { until } from '../support/until.ts'

const home = newHome()
const run = (...args: string[]) => runQuartermaster(args, { home })

/** `UPDATE_GOLDEN=1` writes the help again. Review the differences before you commit them. */
describe('the help', () => {
  it.each(['', ...commands.map((one) => one.name), 'request'])('of “%s” matches its golden file', async (name) => {
    const { exit, printed, errorText } = await run(...name.split(' ').filter((part) => part !== ''), '--help')
    expect([exit, errorText]).toEqual([0, ''])
    const path = new URL(`../golden/command-line/${name.replaceAll(' ', '-') || 'quartermaster'}.txt`, import.meta.url)
    if (process.env['UPDATE_GOLDEN']) {
      mkdirSync(new URL('.', path), { recursive: true })
      writeFileSync(path, printed)
    }
    expect(printed).toBe(readFileSync(path, 'utf8'))
    expect(printed).not.toContain('undefined')
  })

  it('is shown without arguments and for “help” before a command; an incomplete command is an error', async () => {
    const whole = await run('--help')
    expect(await run()).toEqual(whole)
    expect(await run('help')).toEqual(whole)
    expect(await run('help', 'site', 'create')).toEqual(await run('site', 'create', '-h'))
    expect(await run('request')).toMatchObject({
      exit: 2,
      printed: '',
      errorText: expect.stringContaining('request watch'),
    })
  })

  it('has texts for all commands and flags, and no other texts', () => {
    expect(Object.keys(texts.commands).sort()).toEqual(commands.map((one) => one.name).sort())
    const flags = new Set([...Object.keys(commonOptions), ...commands.flatMap((one) => Object.keys(one.options))])
    const own = Object.values(texts.optionsOf).flatMap((texts) => Object.keys(texts))
    const needed = [...flags].filter((name) => !name.startsWith('no-') && !own.includes(name))
    expect(Object.keys(texts.options).sort()).toEqual(needed.sort())
    for (const { name } of commands)
      expect(texts.commands[name as keyof typeof texts.commands].examples.length).toBeGreaterThan(0)
  })

  it('shows valid examples', async () => {
    const examples = Object.values(texts.commands).flatMap((one) => one.examples.map(({ command }) => command))
    for (const example of examples.filter((one) => !/^(login|webhook)/.test(one))) {
      const args = (example.split(/&&|>/)[0] ?? '').match(/"[^"]*"|\S+/g)?.map((part) => part.replaceAll('"', '')) ?? []
      const { exit, errorText } = await runQuartermaster(args, { home, input: '{}' })
      // Nobody is signed in here, nobody can answer questions, and the files do not exist.
      expect([example, exit, errorText]).toEqual([
        example,
        expect.any(Number),
        expect.not.stringMatching(/Unknown flag|Unknown command/),
      ])
      expect([0, 2, 3]).toContain(exit)
      if (exit === 2) expect(errorText).toMatch(/Describe the request|Cannot read/)
    }
  })
})

test('every field of the API document has a flag, and every flag has a field', () => {
  const fieldsOf = (flags: Parameters<typeof flagsOf>[0]) => [
    ...new Set(flagsOf(flags).map(({ path }) => path.split('.')[0])),
  ]
  expect(fieldsOf(siteFlags).sort()).toEqual(Object.keys(siteRequest.shape).sort())
  expect(fieldsOf(mailboxFlags).sort()).toEqual(Object.keys(mailboxRequest.shape).sort())
})

test('the command line shows the version of the packages', async () => {
  for (const path of ['../../package.json', '../../src/client/package.json'])
    expect(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version).toBe(version)
  expect(await run('--version')).toEqual({ exit: 0, printed: `${version}\n`, errorText: '' })
})

test('the registry refuses two commands with one name', () => {
  const command = defineCommand({ name: 'twice', options: {}, run: async () => exitCodes.done })
  expect(() => commandRegistry(command, command)).toThrow('twice')
})

test.each([
  [['sit', 'create'], 'Did you mean site create?'],
  [['frobnicate'], 'For all commands: quartermaster --help'],
  [['site', 'create', '--displayname', 'x'], 'Unknown flag --displayname. Did you mean --display-name?'],
  [['site', 'create', '--display-name'], '--display-name needs a value'],
  [['site', 'create', '--display-name', '--json'], '--display-name needs a value'],
  [
    ['login', '--authority', '-x'],
    '--authority needs a value. If the value starts with a dash, use --authority=value.',
  ],
  [['request', 'cancel', '-m', '-x', 'REQ-1'], '--comment needs a value'],
  [['--helpz'], 'Unknown flag --helpz. Did you mean --help?'],
  [['request', '--helpz'], 'Unknown flag --helpz. Did you mean --help?'],
  [['request', 'show', '--helpz'], 'Unknown flag --helpz. Did you mean --help?'],
  [['request', 'show', '-5'], '“-5” is not a request. Use its reference, such as REQ-1042, or its id.'],
  [['request', 'show', '-5x'], 'Unknown flag -5x. If it is not a flag, put -- before it.'],
  [['request', 'show', '--', '-5x'], '“-5x” is not a request. Use its reference, such as REQ-1042, or its id.'],
  [['site', 'create', '-5'], 'Unexpected argument “-5”.'],
  [['request', 'show', '--', '--help'], '“--help” is not a request.'],
  [['site', 'create', '--', '--help'], 'Unexpected argument “--help”.'],
  [['--', '--help'], 'Unknown command “--help”.'],
  [['site', 'create', '--alias', 'a', '--alias', 'b'], 'Use --alias only once.'],
  [['site', 'create', '--watch=yes'], '--watch takes no value'],
  [['site', 'create'], 'Describe the request with flags'],
  [['site', 'create', 'Aurora'], 'Unexpected argument “Aurora”.'],
  [['site', 'create', '--metadata', 'costCentre'], '--metadata needs key=value, not “costCentre”'],
  [
    ['mailbox', 'create', '--permission', 'dana=FullAccess', '--permission', 'dana=SendAs'],
    '--permission: dana has two access levels. Choose one.',
  ],
  [['site', 'create', '--file', '/nowhere.json'], 'Cannot read /nowhere.json (ENOENT).'],
  [['mailbox', 'create', '--capacity', 'much'], '--capacity needs a number, not “much”'],
  [['mailbox', 'create', '--whiteboard', '--no-whiteboard'], 'Use either --whiteboard or --no-whiteboard, not both.'],
  [['mailbox', 'create', '--name', 'a', '--idempotency-key', 'ä'], 'An idempotency key has 1 to 255'],
  [['request', 'show'], 'Specify a request, such as REQ-1042.'],
  [['request', 'list', '--status', 'done'], '“done” is not valid for --status. Use one of: pendingApproval, queued'],
  [['request', 'list', '--limit', '0'], '--limit needs a whole number, at least 1'],
  [['webhook', 'listen', '--port', '70000'], '--port needs a number from 0 to 65535'],
  [['webhook', 'listen', '--secret', 'hunter2'], 'A webhook secret is whsec_'],
  [['whoami', '--base-url', 'http://provisioning.contoso.com'], '--base-url must start with https://'],
  [['whoami', '--base-url', 'provisioning'], '--base-url needs an address'],
  [['whoami', '--base-url', 'https://kim:secret@provisioning.contoso.com'], '--base-url must not contain a user name'],
  [['login', '--base-url', 'https://provisioning.contoso.example'], 'Specify your registered application'],
])('%j ends with exit code 2 and names the fault', async (args, sentence) => {
  const away: typeof fetch = async () => {
    throw new TypeError('fetch failed')
  }
  const outcome = await runQuartermaster(args, { home, fetch: away })
  expect(outcome).toMatchObject({ exit: 2, printed: '', errorText: expect.stringContaining(sentence) })
  expect(outcome.errorText).not.toContain('hunter2')
  if (!args.includes('--json')) return
  const { error } = JSON.parse((await runQuartermaster([...args, '--json'], { home })).errorText)
  expect(error).toMatchObject({ code: 'usage' })
})

test.each([
  [['--count', '2'], 130],
  [[], 0],
])('“webhook listen” %j that is stopped before a webhook arrives ends with %i', async (flags, exit) => {
  const running = startQuartermaster(['webhook', 'listen', '--port', '0', ...flags], home)
  await until(() => running.errorText().includes('Listening at') || undefined, 'an address')
  running.child.kill('SIGTERM')
  expect((await running.ended).exit).toBe(exit)
})

test.each(['login', 'logout'])('“%s” names a settings folder that it cannot use', async (command) => {
  const file = join(home, 'file')
  writeFileSync(file, '')
  const folder = join(file, 'settings')
  expect(await runQuartermaster([command], { home: folder })).toEqual({
    exit: 2,
    printed: '',
    errorText: `The settings folder ${folder} cannot be used (ENOTDIR). Correct it, or set QUARTERMASTER_HOME to another folder.\n`,
  })
})

test('“--json” after “--” is an operand', async () => {
  expect((await run('request', 'show', '--', '--json')).errorText).toContain('“--json” is not a request')
})

test.each([
  ['{"displayName": ', 'is not valid JSON'],
  ['[]', 'must contain one JSON object'],
  ['', 'is not valid JSON'],
  [' '.repeat(1024 * 1024 + 1), 'is too large for a request'],
])('refuses standard input that is not a request', async (input, sentence) => {
  const outcome = await runQuartermaster(['site', 'create', '--file', '-'], { home, input })
  expect(outcome).toMatchObject({ exit: 2, errorText: expect.stringContaining(sentence) })
})

test('reads a request from a UTF-16 file, as PowerShell 5 writes it', async () => {
  const path = join(home, 'request.json')
  writeFileSync(path, Buffer.from('\ufeff{"displayName": "Zürich"}', 'utf16le'))
  const scope = {
    terminal: createTerminal(silent(), { json: false, colours: false }),
    signal: AbortSignal.timeout(5000),
  }
  expect(await bodyOfFile(path, scope)).toEqual({ displayName: 'Zürich' })
  writeFileSync(path, Buffer.from('{"displayName": "Zürich"}', 'latin1'))
  expect((await run('site', 'create', '--file', path)).errorText).toContain('is neither UTF-8 nor UTF-16')
})
const silent = () => ({ input: new PassThrough(), output: new PassThrough(), errors: new PassThrough() })

test('reports why results cannot be written, and leaves no temporary file', async () => {
  const path = join(home, 'held.results.csv')
  // A folder cannot be replaced by a file; on Windows, neither can a file that Excel has open.
  mkdirSync(join(path, 'inside'), { recursive: true })
  await expect(writeResults(path, [])).rejects.toThrow(/held\.results\.csv cannot be written \(E[A-Z]+\)\. If another/)
  expect(readdirSync(home).filter((name) => name.includes('.tmp'))).toEqual([])
  expect(resultsPathOf('C:\\lists\\Rooms.CSV')).toBe('C:\\lists\\Rooms.results.csv')
})

test('replaces control characters in text, and escapes them in JSON', () => {
  const hostile = 'Bobby\u001b]0;owned\u0007\u009b31m\u202e\r\nTables\u0000'
  expect(clean(hostile)).toBe('Bobby\ufffd]0;owned\ufffd\ufffd31m\ufffd Tables\ufffd')
  const written = harmlessJson({ name: hostile })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds them
  expect(written).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(written)).toEqual({ name: hostile })
})

test('replaces control characters of a status on the redrawn line', async () => {
  const requestId = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
  const hostile = { requestId, reference: 'REQ-1', status: '\u001b]0;owned\u0007', resource: null, problem: null }
  const { url } = await hostileServer(reply(200, { ...hostile, details: { displayName: 'Apollo' }, steps: [] }))
  const output = Object.assign(new PassThrough(), { isTTY: true })
  const streams = { input: new PassThrough(), output, errors: new PassThrough() }
  const terminal = createTerminal(streams, { json: false, colours: true })
  const client = createClient({ baseUrl: url, token: async () => 'token' })
  const scope = { terminal, signal: new AbortController().signal, client: async () => client }
  expect(await watch(scope, requestId, 0)).toBe(exitCodes.stillUnderWay)
  expect(String(output.read())).toContain('REQ-1 Apollo   \ufffd]0;owned\ufffd')
})

describe('settings', () => {
  const https = 'https://provisioning.contoso.example'
  const saved = { clientId: 'saved-client', tenantId: 'saved-tenant', account: 'kim' }

  it('come from flags, else variables, else the saved settings of the service, else local mode', async () => {
    const folder = newHome()
    const local = (await readSettings({}, folder)).settings
    expect(local).toMatchObject({ baseUrl: 'http://127.0.0.1:3978', loginUrl: 'http://127.0.0.1:3979' })
    await saveSettings(folder, https, saved)
    const kept = (await readSettings({}, folder)).settings
    expect(kept).toMatchObject({ baseUrl: https, ...saved, loginUrl: 'https://login.microsoftonline.com' })
    expect(kept.directoryUrl).toBe('https://graph.microsoft.com')
    expect(kept.scopes.mail).toBe(`${https}/mail/App.ReadWrite.All`)
    const variables = { QUARTERMASTER_CLIENT_ID: 'of-variable', QUARTERMASTER_TENANT: '' }
    const overrides = overridesFrom({ authority: 'https://login.contoso.example/tenant' }, variables)
    const mixed = (await readSettings(overrides, folder)).settings
    expect(mixed).toMatchObject({
      clientId: 'of-variable',
      loginUrl: 'https://login.contoso.example',
      tenantId: 'tenant',
    })
    const elsewhere = (await readSettings({ 'base-url': 'https://other.example/' }, folder)).settings
    expect(elsewhere).toMatchObject({ baseUrl: 'https://other.example', clientId: '', account: undefined })
    await saveSettings(folder, 'https://other.example', { clientId: 'b' })
    expect((await readSettings({ 'base-url': https }, folder)).settings.clientId).toBe('saved-client')
  })

  it('keep the default service after a logout from another one', async () => {
    const folder = newHome()
    await saveSettings(folder, 'https://other.example', saved)
    await saveSettings(folder, https, saved)
    const { exit } = await runQuartermaster(['logout', '--base-url', 'https://other.example'], { home: folder })
    expect(exit).toBe(0)
    expect((await readSettings({}, folder)).settings).toMatchObject({ baseUrl: https, account: 'kim' })
    const other = (await readSettings({ 'base-url': 'https://other.example' }, folder)).settings
    expect(other.account).toBeUndefined()
  })

  it('are stored in the system’s folder for settings', () => {
    expect(settingsFolder({}, 'linux', '/home/kim')).toBe('/home/kim/.config/quartermaster')
    expect(settingsFolder({ XDG_CONFIG_HOME: '/x' }, 'linux', '/home/kim')).toBe('/x/quartermaster')
    expect(settingsFolder({ APPDATA: '/roaming' }, 'win32', '/home/kim')).toBe('/roaming/quartermaster')
    expect(settingsFolder({ QUARTERMASTER_HOME: '/q' }, 'win32', '/home/kim')).toBe('/q')
  })
})

test('trusts a login that a service names only if it is Microsoft’s', async () => {
  const calls: string[] = []
  const server = (tokenUrl: string): typeof fetch => {
    const flows = { authorizationCode: { tokenUrl, scopes: {} } }
    return async (url) => {
      calls.push(String(url))
      return Response.json(
        { components: { securitySchemes: { entra: { flows } } } },
        { status: calls.length === 1 ? 200 : 400 },
      )
    }
  }
  const login = (tokenUrl: string) =>
    runQuartermaster(['login', '--base-url', 'https://provisioning.contoso.example', '--client-id', 'c'], {
      home: newHome(),
      fetch: server(tokenUrl),
    })
  const phished = await login('https://login.microsoftonline.com.evil.example/t/oauth2/v2.0/token')
  expect(phished).toMatchObject({ exit: 2, errorText: expect.stringContaining('--authority') })
  expect(calls).toEqual(['https://provisioning.contoso.example/openapi.json'])
  calls.length = 0
  await login('https://login.microsoftonline.com/0c0ffee0-1111-4111-8111-000000000365/oauth2/v2.0/token')
  expect(calls[1]).toMatch(/^https:\/\/login\.microsoftonline\.com\/0c0ffee0-1111-4111-8111-000000000365\//)
})
