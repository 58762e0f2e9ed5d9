import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { describe, expect, inject, it } from 'vitest'
import { definitions } from '../../src/app/metrics.ts'
import { environment, settingNames } from '../../src/app/settings.ts'
import {
  alerts,
  azure,
  compose,
  dashboard,
  deployFile,
  imageStart,
  kubernetes,
  podContainer,
  queries,
  queryOf,
  scrapeJobOf,
  unit,
  unitStart,
} from '../support/deploy-files.ts'
import { whereInstalled } from '../support/where-installed.ts'

const newFolder = (): string => mkdtempSync(join(inject('runFolder'), 'deploy-'))

describe('the Dockerfile', () => {
  it('passes a linter', () => {
    expect(validate(deployFile('Dockerfile'))).toEqual([])
    expect(validate('FROM node:24\nWORKDIR app\nEXPOSE x\n').length).toBeGreaterThan(1)
  })

  it('copies only the bundle, and does not run as root', () => {
    const text = deployFile('Dockerfile')
    expect(text.match(/^(COPY|ADD) .*$/gm)).toEqual(['COPY --chown=root:root dist/ ./'])
    expect(text).toMatch(/^USER node$/m)
    expect(deployFile('Dockerfile.dockerignore')).toBe('*\n!dist\n')
  })

  it('compiles the code for the user and with the flags of the service', () => {
    const { command, settings } = imageStart()
    const run = /^RUN (.+)$/m.exec(deployFile('Dockerfile').replaceAll(/\\\n\s*/g, ''))?.[1] ?? ''
    expect(run).toContain(
      `--reuid=node --regid=node --clear-groups ${command.slice(0, -1).join(' ')} compile.js compiled &&`,
    )
    expect(settings['NODE_COMPILE_CACHE']).toBe('/app/compiled')
  })
})

/** A message of the linter. The library's own type does not resolve from an ES module. */
interface Message {
  readonly rule: string
  readonly message: string
}
/** Style rules: the order of keys, names, the order of ports. */
const notApplied = [
  'services-alphabetical-order',
  'service-keys-order',
  'service-dependencies-alphabetical-order',
  'service-ports-alphabetical-order',
  'top-level-properties-order',
  'service-container-name-regex',
]

describe('the compose file', () => {
  const messagesOf = (file: string): string[] => {
    const off = Object.fromEntries(notApplied.map((name) => [name, 0 as const]))
    const rules = { ...off, 'require-quotes-in-ports': [2, { quoteType: 'double' }] as [2, { quoteType: 'double' }] }
    const linter = new DCLinter({ rules, quiet: true, debug: false, exclude: [] })
    const results: readonly { readonly messages: readonly Message[] }[] = linter.lintFiles([file], false)
    return results.flatMap(({ messages }) => messages.map(({ rule, message }) => `${rule}: ${message}`))
  }

  it('matches the schema of the Compose specification, and passes a linter', () => {
    expect(messagesOf('deploy/compose.yaml')).toEqual([])
    const wrong = join(newFolder(), 'compose.yaml')
    writeFileSync(wrong, deployFile('compose.yaml').replace('read_only: true', 'read_onl: true'))
    expect(messagesOf(wrong).join()).toMatch(/services\/service.*must NOT have additional properties/)
  })

  it('exposes the service only to the proxy on the same machine, and the database to nothing', () => {
    const { service, database } = compose().services
    expect(service?.ports).toEqual(['127.0.0.1:3978:3978'])
    expect(database?.ports).toBeUndefined()
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })

  it('names each secret that it uses, among the files whose creation it describes', () => {
    const { services, secrets } = compose()
    const used = Object.values(services).flatMap((one) => one.secrets ?? [])
    expect(used.toSorted()).toEqual(Object.keys(secrets).toSorted())
    const text = deployFile('compose.yaml')
    for (const { file } of Object.values(secrets)) expect(text.split('\nname:')[0]).toContain(file.split('/').at(-1))
  })
})

describe('the Kubernetes manifests', () => {
  /** Returns TypeScript's errors for these resources, typed by Kubernetes' own API document. */
  function faultsOf(resources: readonly { readonly apiVersion: string; readonly kind: string }[]): string {
    const literals = resources.map((one, index) => {
      const file = one.apiVersion === 'v1' ? 'core/v1' : one.apiVersion
      const types = resolve('node_modules/kubernetes-types', file)
      return `export const _${index}: import(${JSON.stringify(types)}).${one.kind} = ${JSON.stringify(one, null, 1)}`
    })
    const path = join(newFolder(), 'resources.ts')
    writeFileSync(path, literals.join('\n'))
    const options = ['--noEmit', '--strict', '--module', 'preserve', '--types', '', '--ignoreConfig']
    return spawnSync(resolve('node_modules/.bin/tsc'), [...options, path], { encoding: 'utf8' }).stdout
  }

  it("match the types of Kubernetes' own API document, which know every member", () => {
    expect(kubernetes().map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
    expect(faultsOf(kubernetes())).toBe('')
    const [deployment] = JSON.parse(JSON.stringify(kubernetes()))
    deployment.spec.template.spec.containers[0].securityContext.readOnlyRootFilesytem = true
    deployment.spec.replicas = '2'
    const faults = faultsOf([deployment])
    expect(faults).toContain('readOnlyRootFilesytem')
    expect(faults).toContain("'string' is not assignable to type 'number'")
  })

  it('keep one of two replicas during a node drain, and all during an update', () => {
    const [deployment, service, budget] = kubernetes()
    expect(deployment).toMatchObject({ spec: { replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0 } } } })
    expect(budget).toMatchObject({ spec: { minAvailable: 1 } })
    const labels = { 'app.kubernetes.io/name': 'quartermaster' }
    expect(deployment).toMatchObject({
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
    })
    expect(service).toMatchObject({ spec: { selector: labels, ports: [{ targetPort: 'http' }] } })
    expect(budget).toMatchObject({ spec: { selector: { matchLabels: labels } } })
  })
})

describe('the systemd unit', () => {
  const file = resolve('deploy/quartermaster.service')

  whereInstalled('systemd-analyze', 'the systemd unit is valid and has few rights', () => {
    it('is valid for systemd itself', () => {
      const verify = (path: string) => spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
      // Units of this machine are not our concern.
      const about = (path: string) =>
        verify(path)
          .stderr.split('\n')
          .filter((line) => line.includes('quartermaster'))
      expect(about(file)).toEqual([])
      const wrong = join(newFolder(), 'quartermaster.service')
      writeFileSync(wrong, deployFile('quartermaster.service').replace('ProtectHome=yes', 'ProtectHomes=yes'))
      expect(about(wrong).join()).toContain('ProtectHomes')
    })

    it('gives the service so few permissions that systemd rates its exposure OK', () => {
      const threshold = (percent: number) =>
        spawnSync('systemd-analyze', ['security', '--offline=yes', `--threshold=${percent}`, file]).status
      expect(threshold(20)).toBe(0)
      expect(threshold(5)).toBe(1)
    })
  })

  it('waits longer for the end of the service than the service itself needs', () => {
    expect(Number(unit().get('TimeoutStopSec')?.[0])).toBeGreaterThan(10)
  })
})

describe('all deploy files', () => {
  const kubernetesEnvironment = podContainer().env.map(({ name }) => name)
  const azureEnvironment = azure().template.containers[0].env
  const settings: Readonly<Record<string, readonly string[]>> = {
    Dockerfile: Object.keys(imageStart().settings),
    'compose.yaml': Object.keys(compose().services['service']?.environment ?? {}),
    'quartermaster.service': Object.keys(unitStart('/run').settings),
    'kubernetes/quartermaster.yaml': kubernetesEnvironment,
    'azure-container-app.yaml': azureEnvironment.map(({ name }) => name),
  }

  it.each(Object.entries(settings))('%s uses only settings of the service, of Node and of glibc', (_, names) => {
    expect(names.length).toBeGreaterThan(2)
    expect(
      names.filter((name) => ![...settingNames, 'MALLOC_ARENA_MAX', 'NODE_ENV', 'NODE_COMPILE_CACHE'].includes(name)),
    ).toEqual([])
  })

  it('use one port, the default of the service', () => {
    const port = environment.parse({}).PORT
    const { ports = [], env } = podContainer()
    const { ingress } = azure().configuration
    const probes = azure().template.containers[0].probes ?? []
    expect([imageStart().port, imageStart().settings['PORT']]).toEqual([`${port}`, `${port}`])
    expect(compose().services['service']?.environment?.['PORT']).toBe(`${port}`)
    expect(ports).toEqual([{ name: 'http', containerPort: port }])
    expect(env.find(({ name }) => name === 'PORT')?.value).toBe(`${port}`)
    expect([ingress.targetPort, ...probes.map(({ httpGet }) => httpGet.port)]).toEqual([port, port, port, port])
  })

  it('set the paths of certificate and templates to their own mounts', () => {
    const paths = (values: Readonly<Record<string, string | undefined>>) => [
      values['CLIENT_CERTIFICATE_PATH'],
      values['TEMPLATES_FILE'],
    ]
    const inFolder = (folder: string) => [`${folder}/certificate.pem`, `${folder}/templates.json`]
    const byName = (env: readonly { name: string; value?: string | undefined }[]) =>
      Object.fromEntries(env.map(({ name, value }) => [name, value]))
    expect(paths(unitStart('/run/credentials/quartermaster.service').settings)).toEqual(
      inFolder('/run/credentials/quartermaster.service'),
    )
    expect(
      unit()
        .get('LoadCredential')
        ?.map((one) => one.split(':')),
    ).toEqual(['certificate.pem', 'templates.json'].map((name) => [name, `/etc/quartermaster/${name}`]))
    const { environment: variables = {}, secrets = [] } = compose().services['service'] ?? {}
    expect(paths(variables)).toEqual(secrets.map((name) => `/run/secrets/${name}`))
    for (const { env, volumeMounts } of [podContainer(), azure().template.containers[0]])
      expect(paths(byName(env))).toEqual(inFolder(volumeMounts[0]?.mountPath ?? ''))
    expect(deployFile('azure-container-app.yaml')).toMatch(/path: certificate\.pem[\s\S]*path: templates\.json/)
  })

  it('name no missing secret of Azure', () => {
    const used = [...deployFile('azure-container-app.yaml').matchAll(/secretRef: ([\w-]+)/g)].map(([, name]) => name)
    expect(used.toSorted()).toEqual(
      azure()
        .configuration.secrets.map(({ name }) => name)
        .toSorted(),
    )
  })
})

describe('docs/deploy.md', () => {
  const page = readFileSync('docs/deploy.md', 'utf8')

  it('names only existing files', () => {
    const files = page.match(/\bdeploy\/[\w./-]+\b/g) ?? []
    // The reader creates the folder of secrets.
    const ours = files.filter((file) => !file.startsWith('deploy/secrets'))
    expect(ours.length).toBeGreaterThan(5)
    expect(ours.filter((file) => !existsSync(file))).toEqual([])
  })

  it('installs the files that the unit reads', () => {
    const [, installed = ''] = /install -m 600 (.+) \/etc\/quartermaster\/$/m.exec(page) ?? []
    const credentials =
      unit()
        .get('LoadCredential')
        ?.map((one) => one.split(':')[1]) ?? []
    const read = [...(unit().get('EnvironmentFile') ?? []), ...credentials]
    expect(read).toEqual(installed.split(' ').map((name) => `/etc/quartermaster/${name}`))
    expect(page).toContain('cp -r dist/. /opt/quartermaster/')
  })

  it('creates the secrets that Kubernetes and Compose use', () => {
    const named = (text: string, expression: RegExp) =>
      [...text.matchAll(expression)].map(([, name]) => name).toSorted()
    const used = named(JSON.stringify(kubernetes()[0]), /"(?:secretName|secretRef":\{"name)":"([\w-]+)"/g)
    expect(used.length).toBe(2)
    expect(named(page, /create secret generic ([\w-]+)/g)).toEqual(used)
    const line = page.split('\n').find((one) => one.includes('deploy/secrets && '))
    for (const { file } of Object.values(compose().secrets))
      expect(`${line} ${page.match(/> deploy\/secrets\/.+/)}`).toContain(file.split('/').at(-1))
  })
})

/** Labels that Prometheus adds. Our own label `job` becomes `exported_job`. */
const added = ['job', 'instance', 'exported_job', 'le']

describe('alerts and dashboard', () => {
  it.each(queries())('$place is valid PromQL with labels of its metrics', ({ expression }) => {
    const { faults, metrics, groupedBy } = queryOf(expression)
    expect(faults).toEqual([])
    expect(metrics.length).toBeGreaterThan(0)
    for (const { name, labels } of metrics) {
      const definition = Object.entries(definitions).find(
        ([own, { type }]) => own === name || (type === 'histogram' && `${own}_bucket` === name),
      )
      expect(definition !== undefined || /^(up|process_\w+|nodejs_\w+)$/.test(name), name).toBe(true)
      const known: readonly string[] = [...added, ...(definition?.[1].labels ?? [])]
      expect([...labels, ...groupedBy].filter((label) => !known.includes(label))).toEqual([])
    }
  })

  it('use the job that scrapes the pods of Kubernetes, or the replicas of the page, with the token', () => {
    const inKubernetes = scrapeJobOf(deployFile('monitoring/kubernetes-scrape.yaml'))
    const page = readFileSync('docs/telemetry.md', 'utf8')
    const onPage = scrapeJobOf(/^scrape_configs:[\s\S]*?(?=^```)/m.exec(page)?.[0] ?? '')
    expect(onPage).toMatchObject({ job_name: 'quartermaster', authorization: inKubernetes.authorization })
    expect(inKubernetes.job_name).toBe('quartermaster')
    const jobs = queries().flatMap(({ expression }) => [...expression.matchAll(/\bup\{job="([^"]*)"/g)])
    expect(new Set(jobs.map(([, name]) => name))).toEqual(new Set(['quartermaster']))

    const [discovery] = inKubernetes.kubernetes_sd_configs ?? []
    // Another test compares this label with that of the pods.
    expect(discovery?.selectors[0].label).toBe('app.kubernetes.io/name=quartermaster')
    expect(deployFile('kubernetes/quartermaster.yaml')).toContain(`--namespace ${discovery?.namespaces.names}`)
    const ports = inKubernetes.relabel_configs?.find(({ source_labels: [label] }) => label.endsWith('_port_name'))
    expect(podContainer().ports?.map(({ name }) => name)).toEqual([ports?.regex])
    // Scrapers that follow annotations send no token.
    expect(deployFile('kubernetes/quartermaster.yaml')).not.toContain('prometheus.io/')
  })

  it('report an outage also if Prometheus finds no replica', () => {
    const down = alerts().find(({ alert }) => alert === 'QuartermasterDown')
    expect(down?.expr.split(' or ')).toEqual(['sum(up{job="quartermaster"}) == 0', 'absent(up{job="quartermaster"})'])
  })

  it('are checked by a parser that rejects invalid PromQL', () => {
    expect(queryOf('sum by (state (quartermaster_requests)').faults).not.toEqual([])
    expect(queryOf('rate(quartermaster_turns_total{outcome=failed}[5m])').faults).not.toEqual([])
  })

  it('link each alert to an existing heading of a page with its remedy', () => {
    for (const { alert, annotations } of alerts()) {
      const pages = [...annotations.remedy.matchAll(/(docs\/[\w-]+\.md), "([^"]+)"(?: and "([^"]+)")?/g)]
      expect(pages.length > 0 || /`admin |log|status\.cloud|Wait/.test(annotations.remedy), alert).toBe(true)
      for (const [, page = '', ...headings] of pages)
        for (const heading of headings.filter((one) => one !== undefined))
          expect(readFileSync(page, 'utf8').replaceAll('’', "'"), `${alert}: ${page}`).toMatch(
            new RegExp(`^#+ ${heading}$`, 'm'),
          )
    }
  })

  it('give each panel its own position, and use the data source that the reader chooses', () => {
    const { panels, templating } = dashboard()
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const [choice] = templating.list
    expect(choice).toMatchObject({ type: 'datasource', query: 'prometheus' })
    for (const { title, datasource, targets = [] } of panels) {
      expect(datasource, title).toEqual({ type: 'prometheus', uid: `\${${choice?.name}}` })
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length)
      // The name of a series uses labels that the query keeps.
      for (const { expr, legendFormat = '' } of targets) {
        const { groupedBy, metrics } = queryOf(expr)
        const kept = /^\w+ by|quantile/.test(expr)
          ? groupedBy
          : [...added, 'version', ...metrics.flatMap(({ labels }) => labels)]
        const shown = [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label)
        expect(
          shown.filter((label) => !kept.includes(label)),
          title,
        ).toEqual([])
      }
    }
  })
})
