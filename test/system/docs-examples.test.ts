import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { requestView, templateWithin } from '../../src/core/index.ts'
import { readCertificateFile } from '../../src/microsoft365/index.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { auditKeyOf } from '../../src/store/index.ts'
import { answerCode, newHome, startQuartermaster } from '../support/command-line.ts'
import { newStoreOptions } from '../support/database.ts'
import { type Block, blocksOf } from '../support/docs-blocks.ts'
import { codeAlike, expectShown, openTerminal, type Terminal } from '../support/docs-run.ts'
import { promisedNodes } from '../support/promised-nodes.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'

const pages = ['README.md', 'src/client/README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith('.md'),
)
const blocks = pages.flatMap((page) => blocksOf(page, readFileSync(page, 'utf8')))
const nameOf = ({ page, text }: Block): string => `${page}: ${text.split('\n')[0]?.trim()}`

/** Examples that no test can run, by page and first line, with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'README.md: flowchart LR': 'a drawing',
  'README.md: npm ci && npm start     # starts the service with two chat windows':
    'installs every package and never ends; test/system/playground.test.ts starts the service with its windows',
  'docs/deploy.md: npm ci': 'installs every package, and asks an administrator of a tenant to sign in',
  'docs/deploy.md: sudo -u postgres createuser --pwprompt quartermaster': 'a server of PostgreSQL',
  'docs/deploy.md: TRUSTED_PROXIES=<network of the proxy>':
    'settings of an organisation; test/app/config.test.ts reads such settings',
  'docs/deploy.md: HOST=127.0.0.1': 'settings of an organisation; test/app/config.test.ts reads such settings',
  'docs/deploy.md: npm run check:tenant': 'a tenant of production',
  'docs/check.md: npm run check:tenant -- --write                            # a team site and a shared mailbox':
    'a tenant of production; test/system/check-write.test.ts runs the same',
  'docs/setup.md: npm run setup -- --plan   # shows all changes and makes none':
    'a tenant of production; test/system/setup.test.ts runs the same',
  'docs/setup.md: SIMULATOR_TENANT=empty SIMULATOR_PORT=4979 DATA_DIR=data/empty npm run simulator':
    'never ends; test/system/setup.test.ts starts the same tenant',
  'docs/permissions.md: SIMULATOR_TENANT=empty SIMULATOR_PORT=4979 DATA_DIR=data/empty npm run simulator':
    'never ends; test/system/setup.test.ts starts the same tenant',
  'docs/deploy.md: npm ci && npm run build    # writes dist/':
    'installs every package; test/system/bundle.test.ts builds and starts the bundle',
  'docs/deploy.md: sudo rm -rf /opt/quartermaster && sudo install -d /opt/quartermaster && sudo cp -r dist/. /opt/quartermaster/':
    'a server of production; test/system/deployed.test.ts runs what is installed here',
  'docs/deploy.md: quartermaster.contoso.example {': 'settings of Caddy, which is not here',
  'docs/deploy.md: npm ci && npm run build':
    'needs a container engine; test/system/deploy-files.test.ts checks the files',
  'docs/deploy.md: docker build -f deploy/Dockerfile -t <registry>/quartermaster:0.1.0 . && docker push <registry>/quartermaster:0.1.0':
    'needs a container engine and a cluster; test/system/deploy-files.test.ts checks the files',
  'docs/deploy.md: sudo cp certificate.pem deploy/secrets/certificate.pem':
    'needs a container engine; test/system/deploy-files.test.ts checks the files',
  'docs/deploy.md: kubectl delete secret quartermaster-settings quartermaster-files --namespace quartermaster':
    'a cluster',
  'docs/deploy.md: docker compose -f deploy/compose.yaml exec -T database pg_dump --username=quartermaster --format=custom quartermaster > quartermaster.dump':
    'needs a container engine; test/system/deploy-files.test.ts checks the files',
  'docs/deploy.md: sudo -u postgres dropdb <database> && sudo -u postgres createdb --owner=quartermaster <database>':
    'a server of PostgreSQL',
  'docs/deploy.md: az containerapp create --name quartermaster --resource-group <group> --yaml <the copy>':
    'needs a subscription of Azure; test/system/deploy-files.test.ts checks the file',
  'docs/commands.md: npm run check        # checks types, lint and format, and runs the tests':
    'these commands run this test; that each of them exists is tested below',
  "src/client/README.md: import { createClient, ProblemError } from 'quartermaster'":
    'its hosts are those of a company; docs/integrators has the same program, which test/system/integrator-docs.test.ts runs',
  'src/client/README.md: npx quartermaster login --base-url https://provisioning.contoso.com --client-id <your application>':
    'its hosts are those of a company; docs/commands.md has the same commands, which run here',
  'docs/app-registrations.md: COLLAB_AUDIENCE=<client id of the sites API>':
    'settings of an organisation; test/app/config.test.ts reads such settings',
  'docs/deploy.md: MALLOC_ARENA_MAX=2 node --min-semi-space-size=4 --max-semi-space-size=8 --initial-heap-size=128 --max-old-space-size=512 \\':
    'the service of an organisation; test/system/deployed.test.ts starts the bundle by the files in deploy/',
  "docs/operations.md: npm run backup -- --to 'postgres://quartermaster@db.contoso.example/quartermaster?sslmode=verify-full'   # the service is stopped":
    'a server of production; test/system/move-store.test.ts copies a store into a server',
  'docs/operations.md: npm run replicas -- 3    # a PostgreSQL server (or DATABASE_URL), the simulated tenant, three processes, one address':
    'never ends; test/system/replicas.test.ts starts the same processes',
  'docs/performance.md: npm run bench                       # all parts except scale and soak: some ten minutes, 8 GB of disk below the temporary folder':
    'takes ten minutes; test/system/bench.test.ts runs every part of it for a moment',
  'docs/reliability.md: npm run test:crash          # every aimed kill once, then 1,000 requests with 200 random kills, embedded store':
    'takes half an hour; test/system runs the same tests for a moment',
  'docs/telemetry.md: scrape_configs:': 'settings of Prometheus, which is not here',
}

const run = promisify(execFile)
const looked = new Set<Block>()
/** Returns the only example of a page that begins like this. */
function example(page: string, begins: string): Block {
  const found = blocks.filter((block) => block.page === page && block.text.startsWith(begins))
  const [block] = found
  if (!block || found.length > 1) throw new Error(`${page} has ${found.length} examples that begin with: ${begins}`)
  looked.add(block)
  return block
}

describe('the examples in the pages for operators work:', () => {
  const lines: Record<string, unknown>[] = []
  const service = withService({ LOG_LEVEL: 'error' }, () => ({
    writeLog: (line) => void lines.push(JSON.parse(line)),
  }))
  const { call, problem } = caller(service)
  const simulator = (): string => service.app.endpoints.simulator?.url ?? ''
  const forMail = (who: 'kim' | 'sam') => ({
    userId: people[who].id,
    scope: `${service.app.url}/mail/App.ReadWrite.All`,
  })
  /** Each Node repeats all examples with the same service. They do not collide with their earlier objects. */
  const runs = promisedNodes.map((node, place) => ({ node, on: node.name, isAgain: place > 0 }))
  describe.each(runs)('on $on:', ({ node, isAgain }) => {
    let terminal: Terminal
    beforeAll(async () => {
      const token = await tokenFor(simulator(), people.sam.id, `${service.app.url}/collab/App.ReadWrite.All`)
      terminal = openTerminal(
        node,
        { 'http://127.0.0.1:3978': service.app.url, 'http://127.0.0.1:3979': simulator() },
        { SIMULATOR_PORT: new URL(simulator()).port, BASE_URL: service.app.url, ADMIN_TOKEN: token },
      )
    })
    afterAll(() => terminal.close())

    /** Prints a block, with some texts replaced by others. */
    const print = (block: Block, instead: Readonly<Record<string, string>> = {}): Promise<string> =>
      terminal.run({
        ...block,
        text: Object.entries(instead).reduce((text, [shown, real]) => text.replaceAll(shown, real), block.text),
      })
    const read = async (requestId: string) =>
      requestView.parse((await call('kim', 'GET', `/requests/v1/${requestId}`)).body)
    const ends = (requestId: string, status: string) =>
      until(async () => {
        const request = await read(requestId)
        return request.status === status ? request : undefined
      }, `${requestId} to be ${status}`)

    it('docs/commands.md, a room that fails', async () => {
      await print(example('docs/commands.md', 'curl -X POST http://127.0.0.1:3979/control/faults'))
      const body = {
        name: `refused-${node.name.slice(5, 7)}`,
        displayName: 'Refused',
        templateId: templates.meetingRoom,
      }
      const { status, body: accepted } = await call(forMail('kim'), 'POST', '/mail/v1/mailboxes/', { body })
      expect(status).toBe(202)
      const { requestId } = Object(accepted)
      expect(await ends(requestId, 'failed')).toMatchObject({ problem: expect.anything(), resource: null })
    })

    it('docs/permissions.md, a permission that is removed and granted again', async () => {
      const shown = example('docs/permissions.md', 'curl -X POST http://127.0.0.1:3979/control/consents')
      expect(await print(shown)).toContain(
        '"graph":["Group.ReadWrite.All","User.Read.All","User.EnableDisableAccount.All"]',
      )
    })

    it('README.md, the REST calls', async () => {
      const first = example('README.md', 'TOKEN=$(npm run --silent token')
      const answer = example('README.md', 'HTTP/1.1 202 Accepted')
      const printed = await print(first)
      expectShown({ block: first, answer }, printed, isAgain)
      const { requestId } = JSON.parse(printed.slice(printed.indexOf('{')))
      const reads = example('README.md', 'curl -s http://127.0.0.1:3978/requests/v1/<requestId> ')
      const answers: Record<string, unknown>[] = []
      for (const line of reads.text.trim().split('\n'))
        answers.push(JSON.parse(await print({ ...reads, text: line }, { '<requestId>': requestId })))
      const [request, list] = answers
      expect(request).toMatchObject({ requestId, requester: { id: people.kim.id } })
      expect(list).toMatchObject({
        value: expect.arrayContaining([expect.objectContaining({ id: templates.workingGroup })]),
      })
      expect(await ends(requestId, 'succeeded')).toMatchObject({ resource: { url: expect.any(String) } })
    })

    it('docs/commands.md, the command line', async () => {
      const { text } = example('docs/commands.md', '$ npx quartermaster login')
      const [login, ...commands] = text
        .split(/^\$ /m)
        .slice(1)
        .map((part) => {
          const [command = '', ...shown] = part.trim().split('\n')
          return { command, shown: shown.join('\n') }
        })
      const home = newHome()
      expect(login?.command).toBe('npx quartermaster login')
      const running = startQuartermaster(['login'], home, { QUARTERMASTER_BASE_URL: service.app.url })
      const [, page = '', code = ''] = await until(
        () => /Open (\S+) .* code ([A-Z]+)\./.exec(running.errorText()) ?? undefined,
        'a code',
      )
      await answerCode(page, code, 'kim', 'allow')
      const { exit, printed, errorText } = await running.ended
      expect([exit, codeAlike(errorText + printed)]).toEqual([0, codeAlike(login?.shown ?? '')])
      for (const { command, shown } of commands) {
        const env = { ...process.env, PATH: node.path, QUARTERMASTER_HOME: home, NO_COLOR: '1' }
        // A refusal exits with another code than 0, and the page shows the error output, too.
        const { stdout } = await run('bash', ['-c', `${command} 2>&1 || true`], { env })
        const shownByUs = stdout.replace(/^npm (warn|notice).*\n/gm, '')
        // A second site with one name has the next free address.
        const again = isAgain ? shownByUs.replace(/(wg-aurora-team)-2\b/, '$1') : shownByUs
        expect(codeAlike(again), command).toEqual(codeAlike(shown))
      }
    })

    it('docs/approvals.md, the policy', async () => {
      const { text } = example('docs/approvals.md', '{\n  "stages"')
      const approval = JSON.parse(
        text
          .replace('22222222-…', '22222222-bbbb-4bbb-8bbb-000000000003')
          .replace('11111111-…', people.dana.id)
          .replace('33333333-…', '33333333-cccc-4ccc-8ccc-000000000003'),
      )
      const path = `/templates/v1/${templates.partnerSite}`
      const before = await call('sam', 'GET', path)
      const body = { ...Object(before.body), approval }
      const headers = { 'if-match': before.headers.get('etag') ?? '' }
      const put = await call('sam', 'PUT', path, { body, headers })
      expect(put.status, put.text).toBe(200)
      expect(put.body).toMatchObject({ approval })
    })

    it('docs/mailboxes.md, one mailbox of each kind', async () => {
      const block = example('docs/mailboxes.md', '# a shared mailbox')
      const url = `${service.app.url}/mail/v1/mailboxes/`
      const token = await tokenFor(simulator(), people.kim.id, `${service.app.url}/mail/App.ReadWrite.All`)
      const post = `curl -s ${url} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -H 'Idempotency-Key`
      const printed = await print(block, { "-H 'Idempotency-Key": post })
      const kinds: string[] = []
      for (const [, requestId = ''] of printed.matchAll(/"requestId":"([^"]+)"/g)) {
        const { kind, resource, checks } = await ends(requestId, 'succeeded')
        kinds.push(kind)
        expect(resource).toMatchObject({ address: expect.stringContaining('@contoso.example') })
        expect(checks.every(({ ok }) => ok)).toBe(true)
      }
      expect(kinds).toEqual(['sharedMailbox', 'equipmentMailbox', 'roomMailbox'])
    })

    it('docs/operations.md, a backup and its restore', async () => {
      const { dataDir } = await newStoreOptions('embedded')
      const database = await openDatabase({ dataDir })
      await migrate(database)
      await database.close()
      const copies = mkdtempSync(join(inject('runFolder'), 'copies-'))
      const target = join(mkdtempSync(join(inject('runFolder'), 'restored-')), 'data')
      const backup = example('docs/operations.md', 'npm run backup -- /backups/')
      const restore = example('docs/operations.md', 'npm run restore -- /backups/')
      const at = (folder: string): Record<string, string> => ({
        '/backups/': `${copies}/`,
        npm: `DATA_DIR=${folder} npm`,
      })
      expect(await print(backup, at(dataDir))).toMatch(/\.tar\.gz contains /)
      expect(readdirSync(copies)).toEqual(['quartermaster-2026-11-20.tar.gz'])
      const printed = await print(restore, at(target))
      expect(printed.match(/^The store in .* contains /gm)).toHaveLength(2)
      expect(printed).toContain('The previous store is kept in ')
      const restored = await openDatabase({ dataDir: target })
      expect((await restored.query('SELECT 1 FROM requests')).rows).toEqual([])
      await restored.close()
      auditKeyOf(target, undefined)
      const withKey = example('docs/operations.md', 'npm run backup -- --with-audit-key')
      const printedWithKey = await print(withKey, { ...at(target), '/safe/': `${copies}/` })
      expect(printedWithKey).toMatch(/contains the audit key[\s\S]*The audit key is in /)
    })

    it('docs/operations.md, a new key for export links', async () => {
      const secret = (await print(example('docs/operations.md', 'openssl rand -base64 32'))).trim()
      expect(Buffer.from(secret, 'base64')).toHaveLength(32)
      expect(() => readConfig({ EXPORT_SECRET: secret })).not.toThrow()
      expect(() => readConfig({ EXPORT_SECRET: secret.slice(20) })).toThrow('EXPORT_SECRET')
    })

    it('docs/operations.md, a new certificate, also from a .pfx file', async () => {
      const cwd = mkdtempSync(join(inject('runFolder'), 'openssl-'))
      const shell = (command: string) => run('/bin/sh', ['-c', command], { cwd })
      await shell(example('docs/operations.md', 'openssl req').text)
      const created = readCertificateFile(join(cwd, 'service.pem'))
      await shell('openssl pkcs12 -export -in service.pem -out service.pfx -passout pass:secret99 && rm service.pem')
      const [command = ''] = example('docs/operations.md', 'openssl pkcs12').text.split('#')
      await shell(`${command} -passin pass:secret99`)
      expect(readCertificateFile(join(cwd, 'service.pem'))).toEqual(created)
      // Without -noenc: a person enters a password.
      await shell(`${command.replace('-noenc', '')} -passin pass:secret99 -passout pass:correct99`)
      expect(() => readCertificateFile(join(cwd, 'service.pem'))).toThrow('Set CLIENT_CERTIFICATE_PASSWORD')
      expect(readCertificateFile(join(cwd, 'service.pem'), 'correct99')).toEqual(created)
    })

    it('docs/telemetry.md, the log line of a failed turn', async () => {
      const form = await opens(service.kim, 'Project site')
      await service.app.database.query('ALTER TABLE drafts RENAME TO drafts_away')
      const { text = '' } = await service.kim.clicks(form, 'Discard')
      await service.app.database.query('ALTER TABLE drafts_away RENAME TO drafts')
      const [traceId = 'none'] = /[0-9a-f]{32}$/.exec(text) ?? []
      const log = join(mkdtempSync(join(inject('runFolder'), 'log-')), 'quartermaster.log')
      await until(() => lines.some((line) => line['traceId'] === traceId) || undefined, 'the line of the turn')
      writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      const grep = example('docs/telemetry.md', 'grep ')
      const shown = JSON.parse(example('docs/telemetry.md', '{"level":50').text)
      const found = await print(grep, { [shown.traceId]: traceId, 'quartermaster.log': log })
      const line = JSON.parse(found.split('\n').find((one) => one.includes('"kind":"click"')) ?? '{}')
      expect(Object.keys(line).sort()).toEqual(Object.keys(shown).sort())
      expect(Object.keys(line.err)).toEqual(expect.arrayContaining(Object.keys(shown.err)))
      const { level, kind, outcome, personId, msg } = shown
      expect(line).toMatchObject({ level, kind, outcome, personId, msg, what: 'request.cancel', traceId })
    })

    it('docs/telemetry.md, alerts on existing metrics, with their labels', async () => {
      const { text } = example('docs/telemetry.md', 'groups:')
      const figures = await (await fetch(`${service.app.url}/metrics`)).text()
      const table = readFileSync('docs/telemetry.md', 'utf8')
      const used = [...text.matchAll(/(quartermaster_\w+)(?:\{(\w+)=)?/g)]
      expect(used.length).toBeGreaterThanOrEqual(text.match(/- alert:/g)?.length ?? 99)
      for (const [, name = '', label] of used) {
        expect(figures).toContain(`# TYPE ${name} `)
        if (label !== undefined) expect(table).toMatch(new RegExp(`^\\| \`${name}\` \\|[^|]*\\|.*\`${label}\``, 'm'))
      }
    })

    it('docs/templates.md, a call that creates a template, and a file with one', async () => {
      const put = example('docs/templates.md', 'curl -X PUT "$BASE_URL/templates/v1/')
      const created = JSON.parse(await print(put, { $TOKEN: '$ADMIN_TOKEN', 'curl ': 'curl -s ' }))
      const there = { status: 412, code: 'stale-version' }
      expect(created).toMatchObject(isAgain ? there : { kind: 'teamSite', name: 'Customer project', version: 1 })
      expect(JSON.stringify(created)).not.toContain('whsec_')
      const file = example('docs/templates.md', '[\n  {')
      expect(templateWithin([]).array().parse(JSON.parse(file.text))).toHaveLength(1)
    })

    it('docs/webhooks.md, the delivery that a receiver receives', async () => {
      const receiver = await startSubscriber()
      const path = `/templates/v1/${templates.workingGroup}`
      const before = await call('sam', 'GET', path)
      const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
      const webhook = { url: receiver.url, secret, events: ['site.provisioned'] }
      const body = { ...Object(before.body), webhook }
      const headers = { 'if-match': before.headers.get('etag') ?? '' }
      expect((await call('sam', 'PUT', path, { body, headers })).status).toBe(200)
      await call('kim', 'POST', '/collab/v1/spo/', {
        body: { displayName: `Aurora by webhook on ${node.name}`, templateId: templates.workingGroup },
      })
      const delivered = await until(() => receiver.received[0], 'the webhook')
      const shown = example('docs/webhooks.md', 'POST /hooks/sites HTTP/1.1').text.split('\n\n')
      const names = [...(shown[0] ?? '').matchAll(/^([a-z-]+): /gm)].map(([, name = '']) => name)
      expect(Object.keys(delivered.headers)).toEqual(expect.arrayContaining(names))
      expect(new URL(receiver.url).pathname).toBe('/hooks/sites')
      expectSameMembers(JSON.parse(delivered.body), JSON.parse(shown[1] ?? ''))

      const test = await call('sam', 'POST', `${path}/webhook/test`)
      expect(test.body).toMatchObject({ delivered: true })
      const tested = JSON.parse(receiver.received.at(-1)?.body ?? '')
      const shownTest = JSON.parse(example('docs/webhooks.md', '{"type":"webhook.test"').text)
      expect(Object.keys(tested).sort()).toEqual(Object.keys(shownTest).sort())
      expect(tested).toMatchObject({ type: 'webhook.test', requestId: shownTest.requestId, tenantId: contosoTenant })
      expect(Object.keys(tested.data)).toEqual(Object.keys(shownTest.data))
      expect(problem(await call('kim', 'POST', `${path}/webhook/test`)).code).toBe('forbidden')
      await receiver.close()
    })
  })
})

/** Checks that a webhook has the members on a page, and the same constant values. */
function expectSameMembers(delivered: Record<string, unknown>, shown: Record<string, unknown>): void {
  expect(Object.keys(delivered)).toEqual(Object.keys(shown))
  expect(delivered['type']).toBe(shown['type'])
  const { kind, status, ...others } = Object(shown['data'])
  expect(delivered['data']).toMatchObject({ kind, status })
  expect(Object.keys(Object(delivered['data']))).toEqual(expect.arrayContaining(Object.keys(others)))
}

describe('the pages for operators', () => {
  it('have no example without a test, except those listed here with a reason', () => {
    const left = blocks.filter((block) => !looked.has(block)).map(nameOf)
    expect(left.sort()).toEqual(Object.keys(notRun).sort())
  })

  it('name only existing commands and test files', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const texts = blocks.map(({ text }) => text).join('\n')
    const named = [...texts.matchAll(/\bnpm (?:run (?:--silent )?([\w:]+)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short,
    )
    expect(new Set(named).size).toBeGreaterThan(15)
    expect(named.filter((name) => !(String(name) in scripts))).toEqual([])
    const files = pages.flatMap((page) => readFileSync(page, 'utf8').match(/\btest\/[\w/-]+\.ts\b/g) ?? [])
    expect(files.length).toBeGreaterThanOrEqual(3)
    expect(files.filter((file) => !isThere(file))).toEqual([])
  })
})

function isThere(file: string): boolean {
  return readdirSync(join(file, '..')).includes(file.split('/').at(-1) ?? '')
}
