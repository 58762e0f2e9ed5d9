import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

/** Returns a file of `deploy/`. */
export const deployFile = (name: string): string => readFileSync(`deploy/${name}`, 'utf8')

/** A command with its arguments and settings. */
export interface Start {
  readonly command: readonly string[]
  readonly settings: Readonly<Record<string, string>>
}

const texts = z.array(z.string())

/** Returns the command of the image: its CMD, its health check and its settings. */
export function imageStart(): Start & { readonly healthCheck: readonly string[]; readonly port: string } {
  const text = deployFile('Dockerfile').replaceAll(/\\\n\s*/g, '')
  const one = (expression: RegExp): string => expression.exec(text)?.[1] ?? ''
  const settings = [...one(/^ENV (.+)$/m).matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value])
  return {
    command: texts.parse(JSON.parse(one(/^CMD (\[.+\])$/m))),
    healthCheck: texts.parse(JSON.parse(one(/^HEALTHCHECK .*CMD (\[.+\])$/m))),
    settings: Object.fromEntries(settings),
    port: one(/^EXPOSE (\d+)$/m),
  }
}

/** Returns the lines `Name=value` of the systemd unit, by their names. */
export function unit(): ReadonlyMap<string, readonly string[]> {
  const lines = deployFile('quartermaster.service')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const values = new Map<string, string[]>()
  for (const line of lines) {
    const [, name, value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? []
    if (name !== undefined) values.set(name, [...(values.get(name) ?? []), value])
  }
  return values
}

/**
 * Returns the unit's command without `/usr/bin/env`, and its settings separately. `%d` is the folder of credentials.
 */
export function unitStart(credentials: string): Start {
  const [first, ...rest] = (unit().get('ExecStart')?.[0] ?? '').replaceAll('%d', credentials).split(/\s+/)
  const isSetting = (word: string): boolean => /^\w+=/.test(word)
  if (first !== '/usr/bin/env') throw new Error(`The unit starts ${first}`)
  const settings = rest
    .filter(isSetting)
    .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)])
  return { command: rest.filter((word) => !isSetting(word)), settings: Object.fromEntries(settings) }
}

const environment = z.record(z.string(), z.string())
const composeFile = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: environment.optional(),
      ports: texts.optional(),
      secrets: texts.optional(),
      volumes: texts.optional(),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})
export const compose = (): z.output<typeof composeFile> => composeFile.parse(parse(deployFile('compose.yaml')))

const resource = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }) })
export const kubernetes = (): z.output<typeof resource>[] =>
  parseAllDocuments(deployFile('kubernetes/quartermaster.yaml')).map((document) => resource.parse(document.toJS()))

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.union([z.string(), z.number()]) }) })
const container = z.object({
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
  volumeMounts: z.array(z.looseObject({ mountPath: z.string() })),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: texts }) }) }).optional(),
  probes: z.array(probe.extend({ type: z.string() })).optional(),
})
const pods = z.object({ template: z.looseObject({ spec: z.looseObject({ containers: z.tuple([container]) }) }) })

/** Returns the container of the Kubernetes deployment, or of Azure's container app. */
export function podContainer(): z.output<typeof container> {
  const deployment = kubernetes().find(({ kind }) => kind === 'Deployment')
  return pods.parse(deployment?.['spec']).template.spec.containers[0]
}
const containerApp = z.object({
  properties: z.looseObject({
    configuration: z.looseObject({
      ingress: z.looseObject({ targetPort: z.number() }),
      secrets: z.array(z.object({ name: z.string(), value: z.string() })),
    }),
    template: z.looseObject({ containers: z.tuple([container]) }),
  }),
})
export const azure = (): z.output<typeof containerApp>['properties'] =>
  containerApp.parse(parse(deployFile('azure-container-app.yaml'))).properties

const ruleFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Quartermaster[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string(), remedy: z.string() }),
        }),
      ),
    }),
  ),
})
export const alerts = () =>
  ruleFile.parse(parse(deployFile('monitoring/alerts.yaml'))).groups.flatMap(({ rules }) => rules)

const scrapeFile = z.strictObject({
  scrape_configs: z.tuple([
    z.strictObject({
      job_name: z.string(),
      scheme: z.literal('http').optional(),
      authorization: z.strictObject({ credentials_file: z.string() }),
      static_configs: z.array(z.strictObject({ targets: texts })).optional(),
      kubernetes_sd_configs: z
        .tuple([
          z.strictObject({
            role: z.literal('pod'),
            namespaces: z.strictObject({ names: texts }),
            selectors: z.tuple([z.strictObject({ role: z.literal('pod'), label: z.string() })]),
          }),
        ])
        .optional(),
      relabel_configs: z
        .array(
          z.strictObject({
            source_labels: z.tuple([z.string().regex(/^__meta_kubernetes_pod_\w+$/)]),
            regex: z.string().optional(),
            action: z.literal('keep').optional(),
            target_label: z.string().optional(),
          }),
        )
        .optional(),
    }),
  ]),
})
/** Returns the only scrape job of a configuration of Prometheus. */
export const scrapeJobOf = (text: string) => scrapeFile.parse(parse(text)).scrape_configs[0]

const dashboardFile = z.looseObject({
  title: z.string(),
  uid: z.string(),
  schemaVersion: z.number(),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string(), type: z.string(), query: z.unknown() })) }),
  panels: z.array(
    z.looseObject({
      id: z.number(),
      title: z.string(),
      type: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      datasource: z.unknown(),
      targets: z
        .array(z.looseObject({ expr: z.string(), refId: z.string(), legendFormat: z.string().optional() }))
        .optional(),
    }),
  ),
})
export const dashboard = (): z.output<typeof dashboardFile> =>
  dashboardFile.parse(JSON.parse(deployFile('monitoring/grafana-dashboard.json')))

/** The parts of a PromQL expression: its metrics with the labels of their selectors, and all labels of its groups. */
export interface Query {
  readonly faults: readonly string[]
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[]
  readonly groupedBy: readonly string[]
}

/** Parses PromQL with Prometheus's own grammar. */
export function queryOf(expression: string): Query {
  const [faults, groupedBy]: [string[], string[]] = [[], []]
  const metrics: { name: string; labels: string[] }[] = []
  parser.parse(expression).iterate({
    enter({ type, from, to, node }) {
      const text = expression.slice(from, to)
      if (type.isError) faults.push(`at ${from}: ${expression.slice(from, from + 20)}`)
      if (type.name === 'VectorSelector') metrics.push({ name: '', labels: [] })
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector')
        Object.assign(metrics.at(-1) ?? {}, { name: text })
      if (type.name === 'LabelName')
        (node.parent?.name === 'GroupingLabels' ? groupedBy : (metrics.at(-1)?.labels ?? faults)).push(text)
    },
  })
  return { faults, metrics, groupedBy }
}

/** Returns all queries of alerts and panels, with their places. */
export const queries = (): { readonly place: string; readonly expression: string }[] => [
  ...alerts().map(({ alert, expr }) => ({ place: alert, expression: expr })),
  ...dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ place: `the panel ${title}`, expression: expr })),
  ),
]
